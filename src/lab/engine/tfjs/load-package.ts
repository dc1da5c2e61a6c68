/** Loads a package that may not be there. By a name that no bundler sees: it stays where the person has installed it. */
export function loadPackage(name: string): Promise<unknown> {
  return import(/* @vite-ignore */ name) as Promise<unknown>;
}
