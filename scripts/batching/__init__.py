"""Many files in one run: `scripts/batch.py`.

In reading order: `options` reads the command line. `inputs` finds the files. `blender_process` keeps a
Blender that runs commands, and `blender_worker` is the script inside of it. `tasks` runs one file, on this
machine or on a cluster, and `findings` reads its result. `executors` chooses between the two. `records` keeps
the outcome of each file, from which a run resumes. `splits` divides long animations into several tasks.
`runs` puts these together. `reports` writes the summaries, and `progress_lines` shows the progress.
"""
