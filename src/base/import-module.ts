/** Where the first file of a program leaves its own `import()` for the parts. */
export const lentImport = Symbol.for('memrl-tui import');

type Import = (name: string) => Promise<unknown>;

/**
 * Imports a module whose name is known only when the program runs: from where the person has installed it, so that no bundler may
 * see it.
 *
 * The parts of a shipped program run from compiled code, in which Node 20 knows no `import()`: that of the first file stands in,
 * which Node has loaded itself.
 */
export function importModule(name: string): Promise<unknown> {
  const lent = (globalThis as { [lentImport]?: Import })[lentImport];
  return lent === undefined ? import(/* @vite-ignore */ name) : lent(name);
}
