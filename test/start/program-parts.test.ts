import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProgramParts } from '../../src/start/program-parts.js';
import { removeFolder } from '../remove-folder.js';
import { PATIENCE_MS } from '../patience.js';

let root: string;
let parts: string;
let compiled: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'memrl-parts-'));
  parts = join(root, 'dist/parts');
  compiled = join(root, 'compiled', `${process.version}-${process.arch}`, 'memrl-tui');
  for (const folder of [parts, compiled]) mkdirSync(folder, { recursive: true });
  part('main', 'exports.total = module.part("sum").sum(2, 3); exports.late = () => module.part("late").word;');
  part('sum', 'exports.sum = (a, b) => a + b; exports.loaded = (module.part("main"), true);');
  part('late', 'exports.word = "late";');
});
afterEach(() => removeFolder(root));

describe('a program in parts', () => {
  it.each(['with code of V8', 'without it'])('runs a part once, also one that needs its reader: %s', (how) => {
    if (how === 'with code of V8') compile('main');
    const program = open();
    expect(program.load('main')).toMatchObject({ total: 5 });
    expect(program.load('main')).toBe(program.load('main'));
    expect(program.load('sum')).toMatchObject({ loaded: true });
  });

  it.each<{ what: string; code: Buffer }>([
    { what: 'is empty', code: Buffer.alloc(0) },
    {
      what: 'is of other sources',
      code: codeOf('exports.total = 7; // longer than the part that is there, by far indeed'),
    },
    { what: 'is damaged', code: Buffer.from(codeOf('1').map((byte, at) => (at < 40 ? byte ^ 255 : byte))) },
  ])('runs the part where the compiled code $what', ({ code }) => {
    writeFileSync(join(compiled, 'main'), code);
    expect(open().load('main')).toMatchObject({ total: 5 });
  });

  it('says in a stack which part it was', () => {
    part('sum', 'exports.sum = () => { throw new Error("no sum"); };');
    compile('main');
    expect(stackOf(() => open().load('main'))).toContain(join(parts, 'sum.cjs'));
  });

  it('finds what it has not needed so far after a newer build has taken it away', async () => {
    const program = open();
    const main = program.load('main') as { late: () => string };
    program.keep();
    await vi.waitFor(() => expect(program.isKept('late')).toBe(true), PATIENCE_MS);
    rmSync(parts, { recursive: true });
    expect(main.late()).toBe('late');
  });
});

function open(): ProgramParts {
  return new ProgramParts({ name: 'memrl-tui', folder: parts, first: 'main', parts: ['main', 'sum', 'late'] });
}

function stackOf(call: () => unknown): string {
  try {
    call();
    return '';
  } catch (error) {
    return (error as Error).stack ?? '';
  }
}

function part(name: string, text: string): void {
  writeFileSync(join(parts, `${name}.cjs`), text);
}

/** Any code makes the program try what is there. */
function compile(name: string): void {
  writeFileSync(join(compiled, name), codeOf('1'));
}

function codeOf(text: string): Buffer {
  return new Script(text).createCachedData();
}
