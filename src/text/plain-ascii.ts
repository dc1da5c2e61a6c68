const substitutes: Readonly<Record<string, string>> = {
  '–': '-',
  '∞': 'inf',
  '±': '+-',
  '∝': '~',
  '†': '+',
  '²': '^2',
  '·': '-',
  '…': '~',
  '─': '-',
};

/** A line in ASCII. Characters of names that have no substitute become `?`. */
export function plainAscii(line: string): string {
  return line.replace(/[^\x20-\x7e]/gu, (character) => substitutes[character] ?? '?');
}
