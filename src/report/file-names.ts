/** Length limit in characters; file systems allow 255 bytes. */
const LONGEST_NAME = 120;

export function fileName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, LONGEST_NAME);
}

/** Makes names unique, as `eval/loss` and `eval_loss` become the same file name. */
export function distinct<Named extends { readonly name: string }>(figures: readonly Named[]): Named[] {
  const taken = new Set<string>();
  return figures.map((figure) => {
    let name = figure.name;
    for (let number = 2; taken.has(name); number++) name = `${figure.name}-${number}`;
    taken.add(name);
    return { ...figure, name };
  });
}
