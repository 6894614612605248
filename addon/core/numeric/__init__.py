"""Arrays, batches and rounding: the foundation of all other rooms of the core.

- `arrays`: checked conversion to float64, vectors, affine transforms, equal rows; `Table`, the base class of
  columns of which rows are selected and joined together
- `arguments`: checked conversion of other arguments: numbers, indices, masks
- `batch`: `Batched`, the base class of all shapes
- `floating_point`: bounds of rounding errors, error-free arithmetic, directed rounding to float32
- `cached`: cached attributes of objects that cannot change
- `tolerances`: tolerances with their reasons
- `components`: connected components of graphs
- `geodesic`: directions spread evenly over the sphere

Decisions:

- No matrix product: Blender's NumPy has no tuned BLAS, and sums written out have the same order on all
  systems, so that results are the same to the bit.
- Many short vectors are computed along the first axis, (3, n), or in chunks that fit the cache.
- Guarantees hold after rounding: a volume grows by the bound of its rounding error, never by a fixed
  tolerance.
"""
