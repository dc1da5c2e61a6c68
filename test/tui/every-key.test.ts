import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Command } from '../../src/tui/state/command.js';
import { keyMapOf } from '../../src/tui/screens/key-map.js';
import type { KeyPreset } from '../../src/tui/state/preferences-port.js';
import { bundleProgram } from './bundle-program.js';
import { actUses } from './keys/act-uses.js';
import { chartUses } from './keys/chart-uses.js';
import { listUses } from './keys/list-uses.js';
import { moveUses } from './keys/move-uses.js';
import { compareUses, logUses, screenUses, windowUses } from './keys/other-uses.js';
import { OneWindow } from './keys/one-window.js';
import type { Use } from './keys/use.js';

/** Complete by its type: a command without a use does not compile. */
const uses: Record<Command, readonly Use[]> = {
  ...{ ...moveUses, ...actUses, ...listUses, ...chartUses },
  ...{ ...logUses, ...compareUses, ...screenUses, ...windowUses },
};

let program: { file: string; remove: () => void };
beforeAll(async () => void (program = await bundleProgram('test/tui/keys/program.ts')));
afterAll(() => program.remove());

type Row = { readonly key: string; readonly command: Command; readonly help: string };

/** Each key of a preset with what it is for. */
function rowsOf(preset: KeyPreset): Row[] {
  return keyMapOf(preset).flatMap(({ keys, command, help }) => keys.map((key) => ({ key, command, help })));
}

describe('every key does on a real terminal what its row says', () => {
  const window = new OneWindow('default');
  afterAll(() => window.close());

  it.each(rowsOf('default'))('$key: $help', ({ key, command }) => window.use(program.file, key, uses[command]));
});

describe('what is another key in the vim preset does the same there', () => {
  const usual = new Set(rowsOf('default').map(({ key, command }) => `${command} ${key}`));
  const other = rowsOf('vim').filter(({ key, command }) => !usual.has(`${command} ${key}`));
  const window = new OneWindow('vim');
  afterAll(() => window.close());

  it.each(other)('$key: $help', ({ key, command }) => window.use(program.file, key, uses[command]));
});
