import { leanInk, plainInk } from './lean-ink.js';

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
  // `--plain-ink`: with Ink as it comes, to see whether a fault is ours or one of what is left out of it.
  plugins: [process.argv.includes('--plain-ink') ? plainInk : leanInk],
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
};
