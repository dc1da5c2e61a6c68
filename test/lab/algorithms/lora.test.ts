import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { loadModel } from '../../../src/lab/hugging-face/directory.js';
import { readPeft } from '../../../src/lab/hugging-face/peft.js';
import { evalKeys, evaluate } from '../../../src/lab/evaluation/evaluate.js';
import { describeModel, exportAdapter, exportModel } from '../../../src/lab/hugging-face/export-model.js';
import { sftDataKeys, writeSftData } from '../../../src/lab/algorithms/sft.js';
import { lastCheckpoint } from '../../../src/lab/run/checkpoint.js';
import { findModel, readMerged, readModel } from '../../../src/lab/run/model-files.js';
import { keepConfig, openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { removeFolder } from '../../remove-folder.js';
import { tempDirectory } from '../temp-directory.js';
import { resultsIn, rowsIn, sftIn, testWorld, trainIn, warmupIn } from './run-in-test.js';

/** A micro model that knows the format a little, and a run of LoRA on it. */
let format: string;
let run: string;
beforeAll(async () => {
  [format, run] = [mkdtempSync(join(tmpdir(), 'memrl-format-')), mkdtempSync(join(tmpdir(), 'memrl-lora-'))];
  await warmupIn(format, ['n_values=8,64', 'n_batches=300', 'learning_rate=1e-2', 'eval_every=0']).catch(() => null);
  await trainIn(run, [...argv(), 'n_batches=4', 'eval_every=2']);
});
afterAll(() => [format, run].forEach(removeFolder));

const argv = () => [
  ...['N=64', 'reward_type=log_distance', 'max_tokens=3', 'test_n_batches=1', 'learning_rate=1e-3'],
  ...[`load_checkpoint_path=${format}`, 'lora_rank=2'],
];

/** A copy of the run's last checkpoint, to be spoiled. */
function checkpointCopy(): string {
  const [from, to] = [findModel(run), tempDirectory()];
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
  return to;
}

const evalOf = async (path: string) => {
  const { config } = readArguments(evalKeys, [`load_checkpoint_path=${path}`, 'N=64', 'episodes=8', 'max_tokens=3']);
  return evaluate(config, testWorld());
};

describe('a run with lora_rank', () => {
  it('reports the number of trained parameters, and does not change the model’s own weights', async () => {
    const path = tempDirectory();
    const world = testWorld();
    await trainIn(path, [...argv(), 'n_batches=3'], world);
    expect(world.lines.join('\n')).toMatch(/LoRA of rank 2, alpha 32: 616 parameters are trained, 3,?696 are frozen/);
    const [before, after] = [readModel(findModel(format)), readModel(findModel(path))];
    expect(after.weights).toEqual(before.weights);
    expect(after.optimizer).toBeNull();
    expect(after.adapters).toMatchObject({ config: [{ kind: 'lora', rank: 2, alpha: 32 }], optimizer: { step: 3 } });
    const moved = after.adapters!.parameters.filter((value) => value !== 0).length;
    expect(moved).toBe(616);
    expect((await readMerged(findModel(path))).weights).not.toEqual(before.weights);
  });

  it.each([1, 4, 6])('interrupted before step %i and resumed, ends with the same files', async (at) => {
    const long = [...argv(), 'n_batches=8', 'save_every=3', 'log_every=4', 'eval_every=5', 'kl_coef=0.1'];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    await trainIn(straight, long);
    expect(await trainIn(broken, long, testWorld(at))).toEqual({ kind: 'stopped', signal: 'SIGTERM' });
    expect(lastCheckpoint(openRunDirectory(broken), () => undefined)!.batch).toBe(at);
    expect(await trainIn(broken, long)).toEqual({ kind: 'finished' });
    expect(resultsIn(straight)).toHaveLength(4);
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
  });

  it('begins as the initial model, which is also the reference of its KL term', async () => {
    const path = tempDirectory();
    await trainIn(path, [...argv(), 'n_batches=20', 'batch_size=4', 'kl_coef=1e-6', 'eval_every=0']);
    const rows = rowsIn(path).map((row) => row['optim/kl_reference']!);
    expect(rows[0]).toBe(0);
    expect(rows[19]).toBeGreaterThan(1e-4);
  });

  it('gets the same results from memrl eval as from its own evaluation', async () => {
    const last = rowsIn(run).at(-1)!;
    expect((await evalOf(run))['test/bits/answer_raw']).toBe(last['test/bits/answer_raw']);
    expect((await evalOf(format))['test/bits/answer_raw']).not.toBe(last['test/bits/answer_raw']);
  });

  it('is the initial model of another run with its adapters merged', async () => {
    const merged = await readMerged(findModel(run));
    const start = async (...more: string[]) => {
      const path = tempDirectory();
      const to = argv().filter((argument) => !/^(load_checkpoint_path|lora_rank)=/.test(argument));
      await trainIn(path, [...to, 'n_batches=0', `load_checkpoint_path=${run}`, ...more]);
      return readModel(findModel(path));
    };
    expect(await start()).toMatchObject({ weights: merged.weights, adapters: null });
    expect(await start('lora_rank=3')).toMatchObject({
      weights: merged.weights,
      adapters: { config: [{ rank: 3 }], optimizer: { step: 0 } },
    });
  });

  it('works for supervised learning and warm-ups, too, and resumes them bit for bit', async () => {
    const data = tempDirectory();
    const { config } = readArguments(sftDataKeys, ['N=64', 'fixed_secret=42', 'num_train=256']);
    writeSftData(config, data, () => undefined);
    const supervised = [...argv().slice(-2), 'N=64', 'fixed_secret=42', 'num_epochs=3', 'learning_rate=3e-3'];
    const taught = ['n_values=16', 'n_batches=6', 'eval_every=0', 'lora_rank=2'];
    const file = join(data, 'train.jsonl');
    const recipes = [
      (path: string, at?: number) => sftIn(path, file, supervised, testWorld(at)),
      (path: string, at?: number) => warmupIn(path, taught, testWorld(at)).catch((error: unknown) => error),
    ];
    for (const recipe of recipes) {
      const [straight, broken] = [tempDirectory(), tempDirectory()];
      await recipe(straight);
      await recipe(broken, 3);
      await recipe(broken);
      expect(resultsIn(straight)).toHaveLength(4);
      expect(resultsIn(broken)).toEqual(resultsIn(straight));
    }
  });

  it('refuses an alpha with which the adapters would have no effect', async () => {
    await expect(trainIn(tempDirectory(), [...argv(), 'lora_alpha=0'])).rejects.toThrow(/lora_alpha=0/);
  });

  it('cannot resume a run of another rank or none; in old runs, from before lora_rank had an effect, it counts as 0', () => {
    const directory = openRunDirectory(tempDirectory());
    writeFileSync(join(directory.path, 'checkpoints.jsonl'), '{"name":"000001","batch":1}\n');
    const begun = (config: object) => writeFileSync(join(directory.path, 'config.json'), JSON.stringify(config));
    const goOn = (rank: number) => () => keepConfig(directory, { lora_rank: rank, lora_alpha: 32 }, new Set());
    begun({ lora_rank: 2, lora_alpha: 32 });
    expect(goOn(2)).not.toThrow();
    expect(goOn(0)).toThrow(/lora_rank=2, and this one has lora_rank=0/);
    begun({ lora_rank: 1 });
    expect(goOn(1)).toThrow(/lora_rank=0, and this one has lora_rank=1/);
    begun({ lora_rank: 1 });
    expect(goOn(0)).not.toThrow();
  });
});

describe('a checkpoint with adapters', () => {
  it('is described with its adapters', () => {
    const { text } = describeModel(run);
    expect(text).toMatch(/: a checkpoint of memrl with its optimizer$/m);
    expect(text).toMatch(
      /^adapter +lora: LoRA of rank 2, alpha 32, on all projections in 1 of 1 layer; 616 parameters$/m,
    );
  });

  it('exports merged for transformers and as LoRA for peft, both with the same outputs', async () => {
    const at = (name: string) => join(tempDirectory(), name);
    const [whole, adapter, base, again] = [at('whole'), at('adapter'), at('base'), at('again')];
    await exportModel(run, whole);
    expect(loadModel(whole).weights).toEqual((await readMerged(findModel(run))).weights);
    exportAdapter(run, adapter);
    expect(readPeft(adapter, readModel(findModel(run)).shape).parameters).toEqual(
      readModel(findModel(run)).adapters!.parameters,
    );
    await exportModel(format, base);
    await exportModel(base, again, adapter);
    expect(loadModel(again).weights).toEqual(loadModel(whole).weights);
    expect(existsSync(join(again, 'tokenizer.json'))).toBe(true);
  });

  it('refuses a peft export without a LoRA, or into a folder that is not empty', () => {
    expect(() => exportAdapter(format, join(tempDirectory(), 'x'))).toThrow(/has no adapters/);
    expect(() => exportAdapter(run, run)).toThrow(/is not empty/);
  });

  it.each<{ what: string; spoil: (path: string) => void; says: RegExp }>([
    {
      what: 'without their config',
      spoil: (path) => rmSync(join(path, 'adapters.json')),
      says: /has adapters\.safetensors and no adapters\.json/,
    },
    {
      what: 'without their numbers',
      spoil: (path) => rmSync(join(path, 'adapters.safetensors')),
      says: /has adapters\.json and no adapters\.safetensors/,
    },
    {
      what: 'whose config leaves alpha out',
      spoil: (path) => edit(path, (text) => text.replace(/"alpha": 32,/, '')),
      says: /at `0\.alpha`/,
    },
    {
      what: 'whose config is of a greater rank',
      spoil: (path) => edit(path, (text) => text.replace('"rank": 2', '"rank": 3')),
      says: /has shape \[2, 16\] in the checkpoint and \[3, 16\] in the model/,
    },
    {
      what: 'whose config adapts less',
      spoil: (path) => edit(path, (text) => text.replace('"q_proj",', '')),
      says: /has a tensor "model\.layers\.0\.self_attn\.q_proj\.lora_A\.lora"/,
    },
    {
      what: 'whose config is torn',
      spoil: (path) => edit(path, () => '[{'),
      says: /does not say what the adapters are/,
    },
  ])('is refused $what', ({ spoil, says }) => {
    const path = checkpointCopy();
    spoil(path);
    expect(() => readModel(path)).toThrow(says);
  });
});

function edit(path: string, change: (text: string) => string): void {
  const file = join(path, 'adapters.json');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
