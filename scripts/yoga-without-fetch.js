import { readFile } from 'node:fs/promises';

/**
 * Yoga, which Ink lays out its boxes with, holds its WebAssembly as text, and decodes it by `fetch` where there is one. In Node
 * that loads an HTTP client of some 10,000 lines: a fifth of the start of the window. Without `fetch` it decodes the text
 * itself.
 */
export const yogaWithoutFetch = {
  name: 'yoga-without-fetch',
  setup({ onLoad }) {
    onLoad({ filter: /yoga-wasm-base64-esm\.js$/ }, async ({ path }) => ({
      contents: `const fetch = undefined;\n${await readFile(path, 'utf8')}`,
      loader: 'js',
    }));
  },
};
