import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { removeFolder } from '../../remove-folder.js';
import { bundledProgram, memrl, type Program } from '../program.js';
import { cases, hash, hashesIn, stage, type Case } from './cases.js';
import { PATIENCE_MS } from '../../patience.js';

type Known = Record<string, Record<string, string>>;

/** `RECORD_GOLDEN=1` writes it anew: only where the bytes are meant to change, and the reason belongs in the commit. */
const path = 'test/lab/golden/golden.json';
const isRecorded = process.env['RECORD_GOLDEN'] === '1';
const golden: Known = existsSync(path) && !isRecorded ? (JSON.parse(readFileSync(path, 'utf8')) as Known) : {};
const found: Known = {};

const root = mkdtempSync(join(tmpdir(), 'memrl-golden-'));
let shipped: Program;
beforeAll(async () => {
  stage(root);
  shipped = await bundledProgram();
});
afterAll(() => {
  removeFolder(root);
  if (isRecorded) writeFileSync(path, `${JSON.stringify(found, null, 2)}\n`);
});

const at = (name: string) => join(root, name);
const keysOfDirectory: Readonly<Record<string, string>> = { grpo: 'output_dir', 'sft-data': 'output_dir' };

function argvOf({ argv }: Case, directory: string): string[] {
  const words = argv.split(' ').map((word) => word.replace(/@([\w-]+)/, (_, name: string) => at(name)));
  const [command] = words as [string];
  if (['eval', 'eval-run', 'rollouts'].includes(command)) return words;
  const engine = command === 'sft-data' ? [] : ['engine=wasm', 'threads=1'];
  return [...words, ...engine, `${keysOfDirectory[command] ?? 'log_path'}=${directory}`];
}

/** That of GRPO; null of the others, which have none. */
function trainLog(directory: string): string | null {
  const log = join(directory, 'train.log');
  return existsSync(log) ? readFileSync(log, 'utf8') : null;
}

function isKnown(name: string, hashes: Record<string, string>): void {
  found[name] = hashes;
  if (!isRecorded) expect(hashes).toEqual(golden[name]);
}

it.each(['warm', 'binary-tiny', 'data'])(
  'the same seed gives the same bytes as ever in the quick tier: %s',
  async (name) => {
    const one = cases.find((each) => each.name === name)!;
    const directory = at(`quick-${name}`);
    expect(await memrl(argvOf(one, directory))).toMatchObject({ code: one.code ?? 0 });
    expect(isRecorded ? golden[name] : hashesIn(directory)).toEqual(golden[name]);
  },
);

describe('the same seed gives the same bytes as ever', { tags: ['long'] }, () => {
  it.each(cases)('$name', async (one) => {
    const { code, stdout, stderr } = await memrl(argvOf(one, at(one.name)));
    expect({ code, stderr: code === 0 || one.code === code ? '' : stderr }).toEqual({
      code: one.code ?? 0,
      stderr: '',
    });
    const printed = one.prints === true ? { stdout: hash(stdout.replaceAll(root, '')) } : hashesIn(at(one.name));
    isKnown(one.name, printed);
  });

  it.each(cases.filter(({ stopAfter }) => stopAfter !== undefined))('$name, stopped on its way', async (one) => {
    const directory = at(`${one.name}-stopped`);
    const { child, ended } = shipped.start(argvOf(one, directory));
    const metrics = join(directory, 'metrics.jsonl');
    const rows = () => (existsSync(metrics) ? readFileSync(metrics, 'utf8').split('\n').length : 0);
    await vi.waitFor(() => expect(rows()).toBeGreaterThan(one.stopAfter!), { timeout: PATIENCE_MS, interval: 2 });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 143 });
    expect((await memrl(argvOf(one, directory))).code).toBe(one.code ?? 0);
    expect(hashesIn(directory)).toEqual(hashesIn(at(one.name)));
    expect(trainLog(directory)).toBe(trainLog(at(one.name)));
  });

  it('and every run of the table is known', () => {
    expect(Object.keys(found)).toEqual(cases.map(({ name }) => name));
    if (!isRecorded) expect(Object.keys(golden)).toEqual(cases.map(({ name }) => name));
  });
});
