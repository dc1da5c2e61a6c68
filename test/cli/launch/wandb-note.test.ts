import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { wandbNote } from '../../../src/cli/launch/notes.js';
import { removeFolder } from '../../remove-folder.js';
import { plan } from '../../supervisor/testbed.js';

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'wandb-note-'))));
afterEach(() => removeFolder(cwd));

const noteOf = (argv: [string, ...string[]], environment = {}, env = {}) =>
  wandbNote(plan('/runs', 's', [{ argv, cwd, env }]).runs, { HOME: cwd, ...environment });

it('says where a program that uses wandb writes, and that it is offline where no key is configured', () => {
  writeFileSync(join(cwd, 'train.py'), 'import wandb\n');
  const argv: [string, ...string[]] = ['python', 'train.py'];
  expect(noteOf(argv)).toMatch(/directory of each run, wandb offline, as no key/);
  expect(noteOf(argv, { WANDB_API_KEY: 'k' })).toMatch(/directory of each run\.$/);
  expect(noteOf(argv, {}, { WANDB_MODE: 'online' })).toMatch(/directory of each run\.$/);
  expect(noteOf(argv, { WANDB_API_KEY: 'k', WANDB_DIR: '/mine' })).toBeNull();
});

it('knows it by an argument, too, and says nothing of programs that do not use it', () => {
  writeFileSync(join(cwd, 'train.py'), 'print(1)\n');
  expect(noteOf(['python', 'train.py', '--report_to=wandb'])).toMatch(/wandb offline/);
  expect(noteOf(['python', 'train.py'])).toBeNull();
});

it('names the project that the command line gives to the runs, whatever the program', () => {
  writeFileSync(join(cwd, 'train.py'), 'print(1)\n');
  const { runs } = plan('/runs', 's', [{ argv: ['python', 'train.py'], cwd, env: {} }]);
  expect(wandbNote(runs, { HOME: cwd }, 'mine')).toMatch(/^The runs have WANDB_PROJECT=mine\. .*wandb offline/);
  expect(wandbNote(runs, { WANDB_API_KEY: 'k', WANDB_DIR: '/mine' }, 'mine')).toBe('The runs have WANDB_PROJECT=mine.');
});
