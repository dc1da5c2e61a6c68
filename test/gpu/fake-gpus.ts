import { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeFolder } from '../remove-folder.js';

const programs = { nvidia: 'test/fixtures', rocm: 'test/fixtures/rocm', mps: 'test/fixtures/mps' };

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** A driver that can be changed while it is used: what the fixtures' heads say, by `set`. */
export class FakeDriver {
  readonly folder = temporaryFolder();
  readonly environment: Record<string, string>;
  readonly #log = join(this.folder, 'log');

  constructor(...drivers: (keyof typeof programs)[]) {
    const path = [...drivers.map((driver) => resolve(programs[driver])), '/usr/local/bin', '/usr/bin', '/bin'];
    const state = join(this.folder, 'state');
    this.environment = { PATH: path.join(':'), FAKE_GPU_STATE: state, FAKE_GPU_LOG: this.#log };
  }

  set(state: Readonly<Record<string, string>>): void {
    const lines = Object.entries(state).map(([name, value]) => `${name}='${value}'\n`);
    const path = this.environment['FAKE_GPU_STATE']!;
    writeFileSync(`${path}.new`, lines.join(''));
    renameSync(`${path}.new`, path);
  }

  /** `begin` and `end` of every call, in order. */
  calls(): string[] {
    return readFileSync(this.#log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ')[0]!);
  }
}
