import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const textWidth = fileURLToPath(new URL('../src/text/display-width.ts', import.meta.url));

/**
 * What a shipped program has no use for, by file of `ink/build`: the window lays out with Ink and draws by itself, so all that
 * makes escape codes, reads keys or shows errors as a picture can go. It is a third of the time until the window is whole.
 */
const stubs = {
  'renderer.js': `export default () => ({ output: '', outputHeight: 0, staticOutput: '' });`,
  'log-update.js': `const log = () => false;
    export default { create: () => Object.assign(log, { clear() {}, done() {}, reset() {}, sync() {}, setCursorPosition() {},
      isCursorDirty: () => false, willRender: () => false, getCursorPosition: () => undefined }) };`,
  'colorize.js': 'export default (text) => text;',
  'render-to-string.js': `export default () => '';`,
  'parse-keypress.js': 'export default () => ({}); export const nonAlphanumericKeys = [];',
  'components/ErrorOverview.js': 'export default () => null;',
  // Until Ink 8 it keeps every text that was ever measured; and what is measured must be as wide as what is painted.
  'measure-text.js': `import { textWidth } from ${JSON.stringify(textWidth)};
    export default (text) => text === ''
      ? { width: 0, height: 0 }
      : { width: Math.max(...text.split('\\n').map(textWidth)), height: text.split('\\n').length };`,
};

/** Packages that only Ink's own drawing needs. */
const packages = {
  'patch-console': 'export default () => () => {};',
  'cli-cursor': 'export default { show() {}, hide() {} };',
  // Ink 8 calls `cursorTo` while it is loaded.
  'ansi-escapes': `export default { clearTerminal: '', eraseLines: () => '', cursorTo: () => '' };`,
  'terminal-size': 'export default () => ({ columns: 80, rows: 24 });',
  'cli-truncate': 'export default (text) => text;',
};

/** Ink's components, reconciler and layout without the rest of it. Fails where a version of Ink has its files under other names. */
export const leanInk = {
  name: 'lean-ink',
  setup({ onStart, onLoad, onResolve, onEnd }) {
    loadAtOnce(onLoad);
    let missing = new Set();
    let isUsed = false;
    onStart(() => {
      missing = new Set(Object.keys(stubs));
      isUsed = false;
    });
    onLoad({ filter: /ink\/build\/index\.js$/ }, () => void (isUsed = true));
    for (const [file, contents] of Object.entries(stubs)) {
      const filter = new RegExp(`ink/build/${file.replaceAll('.', '\\.')}$`);
      onLoad({ filter }, () => {
        missing.delete(file);
        return { contents, loader: 'js', resolveDir: import.meta.dirname };
      });
    }
    for (const [name, contents] of Object.entries(packages)) {
      onResolve({ filter: new RegExp(`^${name}$`) }, ({ importer }) =>
        importer.includes('/ink/') ? { path: name, namespace: 'lean-ink' } : undefined,
      );
      onLoad({ filter: new RegExp(`^${name}$`), namespace: 'lean-ink' }, () => ({ contents, loader: 'js' }));
    }
    onEnd(() =>
      isUsed && missing.size > 0
        ? { errors: [{ text: `Ink has no ${[...missing].join(', ')} any more: see scripts/lean-ink.js.` }] }
        : undefined,
    );
  },
};

/** Ink as it comes, for `npm run build -- --plain-ink`. */
export const plainInk = {
  name: 'plain-ink',
  setup: ({ onLoad }) => loadAtOnce(onLoad),
};

/**
 * Ink and Yoga without `await` at the top of a file, which the parts of a program cannot have (`build/programs.js`): Ink awaits its
 * own version, and its bridge to devtools, which needs a package that only Ink's developers have; Yoga awaits its WebAssembly.
 */
function loadAtOnce(onLoad) {
  onLoad({ filter: /ink\/build\/reconciler\.js$/ }, async ({ path }) => ({
    contents: replaced(await readFile(path, 'utf8'), {
      "await import('./devtools.js');": '',
      'await loadPackageJson()': '{ name: undefined, version: undefined }',
    }),
    loader: 'js',
  }));
  onLoad({ filter: /yoga-layout\/dist\/src\/index\.js$/ }, async ({ path }) => ({
    contents: replaced(await readFile(path, 'utf8'), {
      'const Yoga = wrapAssembly(await loadYoga())':
        'const loaded = {}; loadYoga(loaded); const Yoga = wrapAssembly(loaded)',
    }),
    loader: 'js',
  }));
  // Its WebAssembly, which is held as text, would be decoded by `fetch`: an HTTP client of some 10,000 lines, a fifth of the start
  // of the window.
  onLoad({ filter: /yoga-wasm-base64-esm\.js$/ }, async ({ path }) => ({
    contents: replaced(await readFile(path, 'utf8'), {
      'if(h.instantiateWasm)': `{
        const bytes = Buffer.from(H.slice(H.indexOf(',') + 1), 'base64');
        a(new WebAssembly.Instance(new WebAssembly.Module(bytes), d));
        return {};
      }`,
    }),
    loader: 'js',
  }));
}

/** @throws Where a package has another text than the one it is known by. */
function replaced(text, replacements) {
  return Object.entries(replacements).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`\`${from}\` is not there any more: see scripts/lean-ink.js.`);
    return changed.replace(from, () => to);
  }, text);
}

/** Ink as it is shipped, as one file, so that tests of components run on what users get. @returns The path of the file. */
export async function bundleLeanInk() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const outfile = `${root}node_modules/.cache/lean-ink/ink.js`;
  await build({
    stdin: { contents: "export * from 'ink';", resolveDir: root },
    outfile,
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
    // The components under test have the same React.
    external: ['react'],
    plugins: [leanInk],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}
