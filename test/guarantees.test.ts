import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const guarantees = readFileSync('docs/guarantees.md', 'utf8');
const readme = readFileSync('README.md', 'utf8');

/** The rows of all tables whose heads begin so, each with its cells. */
function rowsBelow(text: string, head: string): string[][] {
  const tables = text.split('\n\n').filter((block) => block.trimStart().startsWith(head));
  return tables.flatMap((table) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((row) => row.slice(2, -2).split(' | ')),
  );
}

const promised = rowsBelow(guarantees, '| what happens | what becomes of the runs | tested by |');
const told = rowsBelow(readme, '| what happens | what becomes of the runs |');

describe('the guarantees', () => {
  it('are the same in the README and on their own page', () => {
    expect(told).toHaveLength(4);
    expect(told).toEqual(promised.map(([what, becomes]) => [what, becomes]).filter(([what]) => isTold(what!)));
  });

  it('each name the tests that hold them, and these exist', () => {
    const tests = promised.map(([what, , by]) => ({ what, files: by!.match(/test\/[\w./-]+\.test\.ts/g) ?? [] }));
    expect(tests.filter(({ files }) => files.length === 0)).toEqual([]);
    const named = [...guarantees.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

function isTold(what: string): boolean {
  return told.some(([other]) => other === what);
}
