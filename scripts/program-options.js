import { readFile } from 'node:fs/promises';

/** Ink without what a shipped program has no use for. */
const leanInk = {
  name: 'lean-ink',
  setup({ onLoad }) {
    // Its bridge to devtools, and with it a WebSocket client.
    onLoad({ filter: /ink\/build\/devtools\.js$/ }, () => ({ contents: '', loader: 'js' }));
    // Yoga, which lays out its boxes, holds its WebAssembly as text, and decodes it by `fetch` where there is one. In Node that
    // loads an HTTP client of some 10,000 lines: a fifth of the start of the window. Without `fetch` it decodes it itself.
    onLoad({ filter: /yoga-wasm-base64-esm\.js$/ }, async ({ path }) => ({
      contents: `const fetch = undefined;\n${await readFile(path, 'utf8')}`,
      loader: 'js',
    }));
  },
};

/** How esbuild makes one file of a program; the shipped ones, the benches and those of the tests alike. */
export const programOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Names stay as they are, for the stack of a bug. To shorten them and give every function its name back as it is made would be
  // a sixth of the start.
  minifyWhitespace: true,
  minifySyntax: true,
  // React's development build is slow and leaks a performance entry per frame.
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [leanInk],
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
};
