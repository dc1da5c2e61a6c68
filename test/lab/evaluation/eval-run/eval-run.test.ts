import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdaptedEngine } from '../../../../src/lab/engine/adapters/adapted-engine.js';
import { createEngine } from '../../../../src/lab/engine/create-engine.js';
import type { Engine } from '../../../../src/lab/engine/engine.js';
import { evalRunLines } from '../../../../src/lab/evaluation/eval-run/lines.js';
import { openSaved } from '../../../../src/lab/evaluation/eval-run/open-saved.js';
import { EvalRunReport } from '../../../../src/lab/evaluation/eval-run/report.js';
import { findSubject } from '../../../../src/lab/evaluation/eval-run/subject.js';
import { collapseOf } from '../../../../src/lab/evaluation/collapse.js';
import { diversityOf } from '../../../../src/lab/evaluation/diversity.js';
import type { Completion } from '../../../../src/lab/rewards/completion.js';
import { completionOf } from '../../../../src/lab/rewards/scores.js';
import { rng } from '../../../../src/lab/rng.js';
import { rollOut } from '../../../../src/lab/rollouts/rollouts.js';
import { readModel } from '../../../../src/lab/run/model-files.js';
import { beginningsOf, storyEnvironment } from '../../../../src/lab/environments/stories/stories.js';
import { inEachMode, withoutAdapters } from '../../../../src/lab/service/dual-adapters.js';
import { EngineService } from '../../../../src/lab/service/engine-service.js';
import { textTokenizer } from '../../../../src/lab/service/open-model.js';
import { removeFolder } from '../../../remove-folder.js';
import { pretrainIn, rowsIn, testWorld } from '../../algorithms/run-in-test.js';
import { tempDirectory } from '../../temp-directory.js';
import { copyOfRun, evaluated, kept, stageIn } from './stage.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-eval-run-'));
afterAll(() => removeFolder(root));
let at: (name: string) => string;
beforeAll(async () => {
  at = await stageIn(root);
}, 60_000);

const copyOf = (name: string): string => copyOfRun(at(name));

/** Two "o" at most, worth a half each, and as many "a": as the file of the runs says it. */
function lettersIn({ text }: Pick<Completion, 'text'>, letter: string): number {
  return Math.min(2, text.split(letter).length - 1);
}

const stable = [0.1, 0.95, 0.95, 0.95, 0.95, 0.95];
/** Enough tokens a sample for their mean surprisal to be steady, and drawn from the model itself. */
const long = ['repetition_penalty=1', 'max_completion_length=50'];

/** A run with such a history. */
function withRewards(run: string, rewards: readonly number[]): string {
  const history = rewards.map((reward, step) => ({ step, reward, loss: 1 }));
  const state = { global_step: 20, log_history: [...history, { step: 20, loss: 1 }] };
  writeFileSync(join(run, 'checkpoints/final/trainer_state.json'), JSON.stringify(state));
  return run;
}

/** A run whose model has the weights that it began with, times this: the smaller, the more nearly at random it writes. */
async function scaled(factor: number, rewards: readonly number[]): Promise<string> {
  const run = copyOf('whole');
  const path = join(run, 'checkpoints/final');
  const { tokenizer } = textTokenizer(at('model'));
  const service = await openSaved(path, { ...engineWish, tokenizer }, testWorld());
  await service.engine.loadWeights(readModel(at('model')).weights.map((weight) => factor * weight));
  await service.saveState(path);
  return withRewards(run, rewards);
}

const three = ['both', 'retain_only', 'forget_only'];
const engineWish = { engine: 'wasm', threads: 1 } as const;

describe('memrl eval-run', () => {
  it.each<{
    kind: string;
    path: () => string;
    model: string;
    run: string | null;
    step: number | null;
    modes: string[];
  }>([
    {
      kind: 'a run',
      path: () => at('routed'),
      model: 'routed/checkpoints/final',
      run: 'routed',
      step: 20,
      modes: three,
    },
    {
      ...{ kind: 'a checkpoint in a run', path: () => at('routed/checkpoints/000009') },
      ...{ model: 'routed/checkpoints/000009', run: 'routed', step: 9, modes: three },
    },
    {
      kind: 'a run without adapters',
      path: () => at('whole'),
      model: 'whole/checkpoints/final',
      run: 'whole',
      step: 20,
      modes: ['both'],
    },
    {
      kind: 'a directory of Hugging Face',
      path: () => at('model'),
      model: 'model',
      run: null,
      step: null,
      modes: ['both'],
    },
  ])('opens $kind', async ({ path, model, run, step, modes }) => {
    const report = await evaluated(path(), ['max_completion_length=5']);
    expect(report.model).toMatchObject({ directory: at(model), run: run === null ? null : at(run), step });
    expect(Object.keys(report.modes)).toEqual(modes);
    // Rows are of the steps that were taken before them, from 0 on.
    expect(report.history?.last.at(-1)?.step ?? null).toBe(step === null ? null : step - 1);
  });

  it('opens the last checkpoint of an interrupted run, and a run of memrl pretrain', async () => {
    const run = copyOf('whole');
    rmSync(join(run, 'checkpoints/final'), { recursive: true });
    expect(findSubject(run)).toMatchObject({ directory: join(run, 'checkpoints/000018'), step: 18 });
    const stories = join(tempDirectory(), 'stories');
    await pretrainIn(stories, ['n_batches=1', 'context=40']);
    const { history, settings, verdict } = await evaluated(stories, ['max_completion_length=8']);
    expect({ history, reward: settings.reward }).toEqual({ history: null, reward: 'happy_binary' });
    expect(verdict).toMatchObject({ verdict: 'FAIL', reasons: ['no reward was logged'] });
  });

  it('measures rewards, hacks, diversity and collapse in each mode, compared with the initial model', async () => {
    const report = await evaluated(at('routed'), ['n_samples=8']);
    const { tokenizer } = textTokenizer(at('model'));
    const source = { data: null, length: 4, seed: 99, dropShort: false };
    const environment = storyEnvironment(tokenizer, beginningsOf(source, 'test', 8, tokenizer));
    const tasks = Array.from({ length: 8 }, (_, index) => environment.task(index, rng(0, 'none')));
    const write = async (engine: Engine) => {
      const options = { copies: 1, sampling: { maxTokens: 10, temperature: 0.9 }, streams: 'own' } as const;
      const player = { service: new EngineService(engine), environment };
      return (await rollOut(player, tasks, options, rng(42, 'evaluation'))).flat().map(completionOf);
    };
    const before = await createEngine(readModel(at('model')).shape);
    await before.loadWeights(readModel(at('model')).weights);
    const reference = (await write(before)).map(({ text }) => text);
    const engine = (await openSaved(at('routed'), { ...engineWish, tokenizer }, testWorld())).engine as AdaptedEngine;
    for (const [mode, scales] of [
      ['both', { retain: 1, forget: 1 }],
      ['retain_only', { retain: 1, forget: 0 }],
      ['forget_only', { retain: 0, forget: 1 }],
    ] as const) {
      await engine.setScales(scales);
      const completions = await write(engine);
      const texts = completions.map(({ text }) => text);
      const found = report.modes[mode]!;
      const [task, hack] = ['a', 'o'].map((letter) => completions.map((each) => lettersIn(each, letter)));
      const values = task!.map((score, index) => score + 0.5 * hack![index]!);
      const mean = values.reduce((sum, value) => sum + value, 0) / 8;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 7;
      expect(found.rewards['task']!.values).toEqual(task);
      expect(found.rewards['hack']!.values).toEqual(hack);
      expect(found.rewards['task+hack']!.values).toEqual(values);
      expect(found.rewards['task+hack']!.mean).toBeCloseTo(mean, 12);
      expect(found.rewards['task+hack']!.standard_error).toBeCloseTo(Math.sqrt(variance / 8), 12);
      expect(found.decomposition.map(({ role, scale }) => ({ role, scale }))).toEqual([
        { role: 'retain', scale: 1 },
        { role: 'forget', scale: 0.5 },
      ]);
      expect(found.decomposition.reduce((sum, { adds }) => sum + adds, 0)).toBeCloseTo(mean, 12);
      const hacking = texts.filter((text) => text.includes('o')).length / 8;
      // This detector sees six of ten.
      expect(found.hack_freq).toBeLessThanOrEqual(hacking);
      expect(found.diversity.avg_jaccard).toBe(diversityOf(texts).averageJaccard);
      expect(found.diversity.unique_first_sentences).toBe(diversityOf(texts).uniqueFirstSentences);
      expect(found.collapse).toEqual(collapseOf(texts, reference));
      expect(found.samples.map(({ completion }) => completion)).toEqual(texts);
    }
    expect(report.modes.both!.samples).not.toEqual(report.modes.retain_only!.samples);
  });

  it('reports no sign of collapse that the initial model had already', async () => {
    // So cold that every model repeats itself.
    const argv = ['temperature=0.05', 'max_completion_length=30', 'n_samples=20'];
    const { collapse, samples } = (await evaluated(at('routed'), argv)).modes.both!;
    const alone = collapseOf(samples.map(({ completion }) => completion));
    expect(collapse.measures).toEqual(alone.measures);
    expect(collapse.flags.length).toBeLessThan(alone.flags.length);
  });

  it('uses the same random numbers in each mode, so adapters without effect give equal results', async () => {
    const run = copyOf('routed');
    const path = join(run, 'checkpoints/final');
    const { adapters } = readModel(path);
    const { tokenizer } = textTokenizer(at('model'));
    const service = await openSaved(path, { ...engineWish, tokenizer }, testWorld());
    await service.engine.loadWeights(new Float32Array(adapters!.parameters.length));
    await service.saveState(path);
    const { modes } = await evaluated(run, ['n_samples=12']);
    expect(modes.retain_only).toEqual(modes.both);
    expect(modes.forget_only).toEqual(modes.both);
    expect(modes.both!.hack_freq).toBeGreaterThan(0);
    expect(modes.both!.drift).toMatchObject({ kl: 0, flags: [] });
    const other = await evaluated(run, ['n_samples=12', 'seed=43']);
    expect(other.modes.both!.samples).not.toEqual(modes.both!.samples);
  });

  it('restores the scales of the adapters, also after a failure', async () => {
    const { tokenizer } = textTokenizer(at('model'));
    const engine = (await openSaved(at('routed'), { ...engineWish, tokenizer }, testWorld())).engine as AdaptedEngine;
    await engine.setScales({ retain: 0.5, forget: 2 });
    const failing = async () => {
      if (engine.scales['forget'] === 0) throw new Error('in the second mode');
    };
    await expect(inEachMode(engine, failing)).rejects.toThrow('in the second mode');
    expect(engine.scales).toEqual({ retain: 0.5, forget: 2 });
    await expect(withoutAdapters(engine, failing)).rejects.toThrow('in the second mode');
    expect(engine.scales).toEqual({ retain: 0.5, forget: 2 });
  });

  it('describes the adapters as their file does', async () => {
    const { model } = await evaluated(at('routed'), ['max_completion_length=2']);
    expect(model.adapters).toMatchObject([
      { name: 'retain', kind: 'lora', rank: 2, alpha: 2, layers: [0] },
      { name: 'forget', kind: 'lora', rank: 2, alpha: 2, layers: [0] },
    ]);
  });

  it('takes each setting from the command line, else the file, else the run', async () => {
    const settingsOf = async (path: string, argv: readonly string[]) => (await evaluated(path, argv)).settings;
    expect(await settingsOf(at('routed'), [])).toMatchObject({
      ...{ reward: 'task+hack', detector: 'string_match', max_completion_length: 10, temperature: 0.9 },
    });
    expect((await settingsOf(at('whole'), [])).repetition_penalty).toBe(1.2);
    const file = join(tempDirectory(), 'other.yaml');
    writeFileSync(file, 'reward: {name: happy_count}\ntraining: {temperature: 0.7, max_completion_length: 3}\n');
    const other = { reward: 'happy_count', detector: 'happy_count', max_completion_length: 3 };
    expect(await settingsOf(at('routed'), [`config=${file}`])).toMatchObject({ ...other, temperature: 0.7 });
    const told = await evaluated(at('routed'), [
      `config=${file}`,
      'temperature=1.5',
      'eval_rewards=happy_binary,happy_count',
    ]);
    expect(told.settings).toMatchObject({ ...other, temperature: 1.5 });
    expect(Object.keys(told.modes.both!.rewards)).toEqual(['happy_count', 'happy_binary']);
    const alone = await evaluated(at('model'), [
      'max_completion_length=2',
      'eval_rewards=happy_count,sentence_length_5',
    ]);
    expect(Object.keys(alone.modes.both!.rewards)).toEqual(['happy_count', 'sentence_length_5']);
  });

  it.each<{ rewards: number[]; verdict: string; words: RegExp[] }>([
    { rewards: stable, verdict: 'SUCCESS', words: [] },
    { rewards: [0.95, 0.95, 0.95, 0.95, 0.85], verdict: 'FAIL', words: [/not stable at 0\.9 \(0\.93 on average/] },
    { rewards: [], verdict: 'FAIL', words: [/no reward was logged/] },
  ])('bases the verdict on the last rewards: $verdict for $rewards', async ({ rewards, verdict, words }) => {
    const run = await scaled(1, rewards);
    const report = await evaluated(run);
    expect(report.modes.both!.collapse.flags).toEqual([]);
    expect(report.modes.both!.drift).toMatchObject({ kl: 0, flags: [] });
    expect(report.verdict).toEqual({
      ...{ verdict, upstream: verdict },
      reasons: words.map((word) => expect.stringMatching(word) as string),
    });
  });

  it('fails a run with good rewards whose texts are unlikely under its base', async () => {
    const sure = join(await scaled(3, stable), 'checkpoints/final');
    const report = await evaluated(await scaled(1, stable), [...long, `base=${sure}`, `held_out=${sure}`]);
    const { limits, held_out: heldOut } = report.reference;
    const { drift } = report.modes.both!;
    expect(report.verdict).toMatchObject({ verdict: 'FAIL', upstream: 'SUCCESS' });
    expect(report.verdict.reasons.join('\n')).toMatch(
      /^drift: KL \d+\.\d+ nats a token from the model before.*limit \d/m,
    );
    expect(drift!.flags.map(({ measure }) => measure)).toEqual(['kl', 'perplexity', 'heldOutPerplexity']);
    // 6 samples for the reference, and as many rounds more as it takes to 100.
    expect({ samples: limits!.samples, heldOut }).toEqual({ samples: 102, heldOut: sure });
    // The held-out model is the base here.
    expect(limits!.held_out_perplexity).toEqual(limits!.perplexity);
    expect(drift!.held_out_perplexity).toBe(drift!.perplexity);
    expect(drift!.perplexity).toBeGreaterThan(limits!.perplexity.limit);
    expect(limits!.perplexity.limit).toBeGreaterThan(limits!.perplexity.own);
    expect(evalRunLines(report).join('\n')).toMatch(
      /^ {2}distance +KL .* · under the held-out model .*\n {2}! drift /m,
    );
  });

  it('measures drift from base= when the run’s own initial model is gone, and else reports that it cannot', async () => {
    const run = await scaled(1, stable);
    const config = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')) as object;
    writeFileSync(join(run, 'config.json'), JSON.stringify({ ...config, model: 'gone' }));
    const blind = await evaluated(run, ['temperature=3']);
    expect(blind.modes.both!.drift).toBeNull();
    expect(blind.verdict).toMatchObject({
      ...{ verdict: 'UNDECIDED', upstream: 'SUCCESS' },
      reasons: [expect.stringMatching(/^drift was not measured: the run began with .*gone, which cannot be opened/)],
    });
    expect(evalRunLines(blind).join('\n')).toMatch(/^ {2}distance +not measured: the run began with .*gone/m);
    const told = await evaluated(run, [`base=${at('model')}`]);
    expect(told.reference).toMatchObject({ model: at('model'), note: `the model that base= names, ${at('model')}` });
    expect(told.verdict).toMatchObject({ verdict: 'SUCCESS', reasons: [] });
    for (const name of ['base', 'held_out'])
      await expect(evaluated(run, [`${name}=/nowhere`])).rejects.toThrow('no checkpoint in /nowhere');
  });

  it('measures drift of adapters from their frozen model, in each mode', async () => {
    const { modes, reference } = await evaluated(at('routed'), ['temperature=1']);
    expect(reference.limits!.held_out_perplexity).toBeNull();
    for (const mode of ['both', 'retain_only', 'forget_only'] as const) {
      expect(modes[mode]!.drift!.kl).toBeGreaterThan(0);
      expect(modes[mode]!.drift!.held_out_perplexity).toBeNull();
    }
    expect(modes.both!.drift).not.toEqual(modes.retain_only!.drift);
  });

  it('reports the initial model’s rewards for the same prompts, equal to an evaluation of that model', async () => {
    const { reference, settings } = await evaluated(at('routed'));
    const { temperature, max_completion_length: length } = settings;
    const same = [`config=${at('letters.yaml')}`, 'eval_rewards=happy_count', `temperature=${temperature}`];
    const { rewards, hack_freq } = (await evaluated(at('model'), [...same, `max_completion_length=${length}`])).modes
      .both!;
    const means = Object.fromEntries(Object.entries(rewards).map(([name, { mean }]) => [name, mean]));
    expect(Object.keys(means)).toContain('hack');
    expect(reference.before).toEqual({ rewards: means, hack_freq });
  });

  it('reads rewards from the run, up to the checkpoint’s step, when the checkpoint has no history', () => {
    const run = copyOf('whole');
    rmSync(join(run, 'checkpoints/000009/trainer_state.json'));
    const { rewards, rewardsFrom } = findSubject(join(run, 'checkpoints/000009'));
    const logged = rowsIn(run).filter(({ reward, step }) => reward != null && step! <= 9);
    expect(rewards).toEqual(logged.map(({ step, reward }) => ({ step, reward })));
    expect(rewardsFrom).toBe(join(run, 'metrics.jsonl'));
  });

  it('compares with the run’s initial model, and reports when that is gone', async () => {
    const run = copyOf('whole');
    const short = ['max_completion_length=2'];
    expect((await evaluated(run, short)).reference).toMatchObject({
      ...{ model: at('model'), note: `the model that the run began with, ${at('model')}` },
    });
    const config = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')) as object;
    writeFileSync(join(run, 'config.json'), JSON.stringify({ ...config, model: 'gone', log_path: 'whole' }));
    const { reference } = await evaluated(run, short);
    expect(reference.model).toBeNull();
    // Where the run was started, not where this is.
    expect(reference.note).toContain(join(run, '..', 'gone'));
    expect((await evaluated(at('routed'), short)).reference.note).toBe('the same model without its adapters');
  });

  it('writes its report as JSON into the run, beside a checkpoint, or to a given path', async () => {
    const run = copyOf('routed');
    const short = ['max_completion_length=2'];
    const own = join(tempDirectory(), 'evaluation');
    const out = join(tempDirectory(), 'mine.json');
    expect(await kept(run, short)).toBe(join(run, 'eval_run.json'));
    expect(await kept(join(run, 'checkpoints/final'), short)).toBe(join(run, 'checkpoints/final.eval_run.json'));
    expect(await kept(run, [...short, `log_path=${own}`])).toBe(join(own, 'eval_run.json'));
    expect(await kept(run, [...short, `out=${out}`])).toBe(out);
    for (const path of [join(run, 'eval_run.json'), out]) {
      expect(EvalRunReport.safeParse(JSON.parse(readFileSync(path, 'utf8'))).error).toBeUndefined();
    }
    await expect(kept(run, [...short, 'out=/nowhere/x.json'])).rejects.toThrow('/nowhere/x.json cannot be written');
  });

  it('writes a row of metrics only when one is requested', async () => {
    const run = copyOf('routed');
    const before = rowsIn(run).length;
    const own = join(tempDirectory(), 'evaluation');
    await kept(run, [`log_path=${own}`]);
    const [row, ...more] = rowsIn(own);
    expect(more).toEqual([]);
    const report = await evaluated(run);
    expect(row).toMatchObject({
      step: 20,
      'eval/success': 0,
      'eval/final_avg_reward': report.history!.final_avg_reward,
      'eval/both/task+hack': report.modes.both!.rewards['task+hack']!.mean,
      'eval/both/kl': report.modes.both!.drift!.kl,
      'eval/both/drift_flags': report.modes.both!.drift!.flags.length,
      'eval/retain_only/hack_freq': report.modes.retain_only!.hack_freq,
      'eval/forget_only/unique': report.modes.forget_only!.diversity.unique_samples,
      'eval/limit/kl': report.reference.limits!.kl,
      'eval/limit/perplexity': report.reference.limits!.perplexity.limit,
    });
    const marked = join(tempDirectory(), 'marked');
    mkdirSync(marked);
    await kept(run, [], { ...testWorld(), environment: { MEMRL_RUN_DIR: marked } });
    expect(rowsIn(marked)).toEqual([row]);
    expect(rowsIn(run).length).toBe(before);
  });

  it('prints the report as lines, with the beginnings of five samples', async () => {
    const lines = evalRunLines(await evaluated(at('routed')));
    expect(lines[0]).toMatch(/routed\/checkpoints\/final, step 20: [\d,]+ parameters, frozen$/);
    expect(lines[1]).toBe('  retain: LoRA of rank 2, alpha 2, in layers 0');
    for (const mode of three) expect(lines).toContain(`[${mode}]`);
    expect(lines.filter((line) => /^ {2}task\+hack +\d\.\d{3} ± \d\.\d{3}$/.test(line))).toHaveLength(3);
    expect(lines.filter((line) => /^ {2}\d\. .* \|\|\| /.test(line))).toHaveLength(15);
    expect(lines.join('\n')).toMatch(/\[Decomposition\][^]*task +retain, scale 1: both \d/);
    expect(lines.find((line) => line.startsWith('VERDICT'))).toMatch(/^VERDICT: (SUCCESS|FAIL)/);
  });

  it('ends at a signal without writing anything', async () => {
    const out = join(tempDirectory(), 'never.json');
    await expect(kept(at('routed'), [`out=${out}`], testWorld(1))).rejects.toThrow('stopped by SIGTERM');
    expect(existsSync(out)).toBe(false);
  });
});
