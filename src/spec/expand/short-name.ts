/** What people call these parameters. */
const usual: Readonly<Record<string, string>> = {
  learning_rate: 'lr',
  batch_size: 'bs',
  seed: 's',
  weight_decay: 'wd',
  num_epochs: 'epochs',
  max_epochs: 'epochs',
  num_layers: 'layers',
  n_layers: 'layers',
  temperature: 'temp',
  optimizer: 'opt',
};

/**
 * Short forms of parameter names for run names: the usual one, else the initials of a name of several words, else the
 * name itself. Two parameters of one short form keep their full names.
 */
export function shortNames(names: readonly string[]): ReadonlyMap<string, string> {
  const short = new Map(names.map((name) => [name, shortName(name)]));
  const count = (form: string) => [...short.values()].filter((other) => other === form).length;
  return new Map([...short].map(([name, form]) => [name, count(form) > 1 ? name : form]));
}

function shortName(name: string): string {
  const leaf = name.split('.').at(-1)!;
  const known = leaf.toLowerCase();
  if (Object.hasOwn(usual, known)) return usual[known]!;
  const words = leaf.split(/[_-]+/).filter((part) => part !== '');
  return words.length > 1 ? words.map((part) => part[0]!.toLowerCase()).join('') : leaf;
}
