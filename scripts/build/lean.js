import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { transform } from 'esbuild';
import { withLazySchemas } from './lazy-schemas.js';

/** Packages, by the package that needs them for what is not used here. */
const unused = {
  // Schemas and migrations of preferences.
  conf: {
    'ajv/dist/2020.js': 'export class Ajv2020 {}',
    'ajv-formats': 'export default () => undefined;',
    semver: 'export default {};',
  },
  // Schemas of what a client's user fills in, which is not asked for.
  '@modelcontextprotocol/server': {
    '@modelcontextprotocol/server/_shims':
      "export { default as process } from 'node:process'; export class DefaultJsonSchemaValidator {}",
  },
  // The rules of style sheets, which a figure does not ask for.
  linkedom: { 'cssomnom/parse': 'export const parse = () => ({ cssRules: [] });' },
};

const loaders = { '.ts': 'ts', '.tsx': 'tsx', '.js': 'js', '.mjs': 'js', '.cjs': 'js' };

/**
 * Makes programs small: without packages that are not used, and with short names inside of functions. Functions and classes at the
 * top of a file keep their names, as do methods, for the stack of a bug.
 */
export const lean = {
  name: 'lean',
  setup({ onResolve, onLoad }) {
    for (const [owner, stubs] of Object.entries(unused)) {
      onResolve({ filter: /^[a-z@]/ }, ({ path, importer }) =>
        Object.hasOwn(stubs, path) && importer.includes(`/node_modules/${owner}/`)
          ? { path, namespace: `unused-${owner}` }
          : undefined,
      );
      onLoad({ filter: /./, namespace: `unused-${owner}` }, ({ path }) => ({ contents: stubs[path], loader: 'js' }));
    }
    onLoad({ filter: /\.(tsx?|[cm]?js)$/ }, async ({ path }) => {
      const loader = loaders[extname(path)];
      const options = { loader, minifyIdentifiers: true, target: 'esnext', jsx: 'automatic' };
      const text = await readFile(path, 'utf8');
      const { code } = await transform(loader.startsWith('ts') ? withLazySchemas(text) : text, options);
      return { contents: code, loader: 'js' };
    });
  },
};
