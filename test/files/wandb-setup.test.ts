import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hasWandbAccount } from '../../src/files/wandb-setup.js';
import { removeFolder } from '../remove-folder.js';

let home: string;
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'wandb-account-'))));
afterEach(() => removeFolder(home));

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text);
};

it.each<{ when: string; files?: Record<string, string>; environment?: Record<string, string>; known: boolean }>([
  { when: 'nothing is configured', known: false },
  { when: 'a key is in the environment', environment: { WANDB_API_KEY: 'k' }, known: true },
  { when: 'the key in the environment is empty', environment: { WANDB_API_KEY: '' }, known: false },
  {
    when: '~/.netrc names its host',
    files: { '.netrc': 'machine api.wandb.ai\n  login user\n  password k\n' },
    known: true,
  },
  {
    when: '~/.netrc names another host',
    files: { '.netrc': 'machine github.com\n  login api.wandb.ai\n' },
    known: false,
  },
  {
    when: '~/.netrc names the host of another server',
    files: { '.netrc': 'machine wandb.local login user password k\n' },
    environment: { WANDB_BASE_URL: 'https://wandb.local/' },
    known: true,
  },
  { when: 'the settings have a key', files: { '.config/wandb/settings': '[default]\napi_key = k\n' }, known: true },
  {
    when: '`wandb disabled` was called in the folder',
    files: { 'wandb/settings': '[default]\nmode = disabled\n' },
    known: true,
  },
  {
    when: 'the settings say something else',
    files: { '.config/wandb/settings': '[default]\nentity = me\n' },
    known: false,
  },
])('$when: $known', ({ files = {}, environment = {}, known }) => {
  for (const [name, text] of Object.entries(files)) write(name, text);
  expect(hasWandbAccount({ HOME: home, ...environment }, home)).toBe(known);
});
