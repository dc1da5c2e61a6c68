import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Command } from '../../src/tui/command.js';
import { keyMapOf } from '../../src/tui/key-map.js';
import { type KeyPreset } from '../../src/tui/preferences-port.js';
import { bundleProgram } from './bundle-program.js';
import { actUses } from './keys/act-uses.js';
import { chartUses } from './keys/chart-uses.js';
import { listUses } from './keys/list-uses.js';
import { moveUses } from './keys/move-uses.js';
import { compareUses, logUses, screenUses, windowUses } from './keys/other-uses.js';
import { type Use } from './keys/use.js';
import { WindowAtHome } from './keys/window-at-home.js';

/** Complete by its type: a command without a use does not compile. */
const uses: Record<Command, readonly Use[]> = {
  ...{ ...moveUses, ...actUses, ...listUses, ...chartUses },
  ...{ ...logUses, ...compareUses, ...screenUses, ...windowUses },
};

let program: { file: string; remove: () => void };
let window: WindowAtHome | null = null;
beforeAll(async () => void (program = await bundleProgram('test/tui/keys/program.ts')));
afterAll(() => {
  close();
  program.remove();
});

/** One window for all keys of a preset, and a new one after a failure, which may have left it anywhere. */
async function using(preset: KeyPreset, act: (window: WindowAtHome) => Promise<void>): Promise<void> {
  window ??= await WindowAtHome.open(program.file, preset);
  try {
    await act(window);
  } catch (error) {
    close();
    throw error;
  }
}

function close(): void {
  window?.terminal.close();
  window = null;
}

type Row = { readonly shown: string; readonly key: string; readonly command: Command; readonly help: string };

/** Each key of a preset with what it is for. */
function rowsOf(preset: KeyPreset): Row[] {
  return keyMapOf(preset).flatMap(({ keys, command, help }) => keys.map((key) => ({ shown: key, key, command, help })));
}

async function useEverywhere(preset: KeyPreset, { key, command }: Row): Promise<void> {
  await using(preset, async (at) => {
    for (const use of uses[command]) await at.use(key, use);
  });
}

describe('every key does on a real terminal what its row says', () => {
  it.each(rowsOf('default'))('$shown: $help', (row) => useEverywhere('default', row));
});

describe('what is another key in the vim preset does the same there', () => {
  const usual = new Set(rowsOf('default').map(({ key, command }) => `${command} ${key}`));
  const other = rowsOf('vim').filter(({ key, command }) => !usual.has(`${command} ${key}`));
  beforeAll(close);

  it.each(other)('$shown: $help', (row) => useEverywhere('vim', row));
});
