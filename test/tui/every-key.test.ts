import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Command } from '../../src/tui/state/command.js';
import { keyMapOf } from '../../src/tui/screens/key-map.js';
import type { KeyPreset } from '../../src/tui/state/preferences-port.js';
import { bundledFile } from '../bundled.js';
import { OneWindow } from './keys/one-window.js';
import type { Use, Uses } from './keys/use.js';

const screens = readdirSync('test/tui/screens', { withFileTypes: true }).filter((entry) => entry.isDirectory());
const folders = ['keys', ...screens.map(({ name }) => `screens/${name}`)];
const files = folders.flatMap((folder) =>
  readdirSync(`test/tui/${folder}`)
    .filter((file) => /^([a-z]+-)?uses\.ts$/.test(file))
    .map((file) => `./${folder}/${file}`),
);
const tables = await Promise.all(
  files.map(async (file) => Object.values((await import(file)) as Record<string, Uses>)),
);
const known: Uses = tables.flat().reduce<Uses>((all, uses) => ({ ...all, ...uses }), {});

/** What a command is used for. A command without a use fails. */
function usesOf(command: Command): readonly Use[] {
  const uses = known[command];
  if (uses === undefined) throw new Error(`No use of ${command} is known: test/tui/keys, test/tui/screens/*/uses.ts.`);
  return uses;
}

let program: string;
beforeAll(async () => void (program = await bundledFile('test/tui/keys/program.ts')));

type Row = { readonly key: string; readonly command: Command; readonly help: string };

/** Each key of a preset with what it is for. */
function rowsOf(preset: KeyPreset): Row[] {
  return keyMapOf(preset).flatMap(({ keys, command, help }) => keys.map((key) => ({ key, command, help })));
}

describe('every key does on a real terminal what its row says', () => {
  const window = new OneWindow('default');
  afterAll(() => window.close());

  it.each(rowsOf('default'))('$key: $help', ({ key, command }) => window.use(program, key, usesOf(command)));
});

describe('what is another key in the vim preset does the same there', () => {
  const usual = new Set(rowsOf('default').map(({ key, command }) => `${command} ${key}`));
  const other = rowsOf('vim').filter(({ key, command }) => !usual.has(`${command} ${key}`));
  const window = new OneWindow('vim');
  afterAll(() => window.close());

  it.each(other)('$key: $help', ({ key, command }) => window.use(program, key, usesOf(command)));
});
