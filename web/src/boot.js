// Unpacks the page's program and starts it; the policy knows it by its hash.

const packed = atob(document.getElementById("alphastep-program").textContent);
const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
const unpack = () => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();

Promise.resolve()
  .then(unpack)
  .then((text) => {
    const program = document.createElement("script");
    program.textContent = text;
    document.body.append(program);
  })
  .catch((error) => {
    document.getElementById("notices").textContent = `This page cannot be shown by this browser: ${error.message}`;
  });
