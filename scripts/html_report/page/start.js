// Unpacks the modules, names them in an import map, and starts the page.
(async () => {
  const { nonce } = document.currentScript;
  const packed = JSON.parse(document.getElementById("modules").textContent);
  const unpack = async ([name, text]) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const module = new Blob([await new Response(stream).blob()], { type: "text/javascript" });
    return [name, URL.createObjectURL(module)];
  };
  try {
    const imports = Object.fromEntries(await Promise.all(Object.entries(packed).map(unpack)));
    const map = document.createElement("script");
    map.type = "importmap";
    map.nonce = nonce;
    map.textContent = JSON.stringify({ imports });
    document.head.append(map);
    await import("report/main");
    document.documentElement.dataset.state = "ready";
  } catch (error) {
    const failure = document.getElementById("failure");
    failure.textContent = `The tables and charts could not be made: ${error.message}. Try a newer browser.`;
    failure.hidden = false;
    document.documentElement.dataset.state = "failed";
    throw error;
  }
})();
