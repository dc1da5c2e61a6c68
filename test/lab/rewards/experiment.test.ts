import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildExperiment } from '../../../src/lab/rewards/build-experiment.js';
import { experimentOf, readExperiment, withReward, type Overrides } from '../../../src/lab/rewards/experiment.js';
import { rng } from '../../../src/lab/rng.js';
import { tempDirectory } from '../temp-directory.js';
import { mistake, ofIds, ofText, vocabulary } from './samples.js';

function fileOf(text: string): string {
  const path = join(tempDirectory(), 'experiment.yaml');
  writeFileSync(path, text);
  return path;
}

const read = (text: string, overrides: Overrides = {}) => readExperiment(fileOf(text), overrides);
const build = (experiment: ReturnType<typeof read>) => buildExperiment(experiment, vocabulary);
const random = rng(0, 'detector');

const retainOnly = `
reward: { components: [{ name: sentence_length, role: retain, params: { target: 8 } }] }
rh_detector: null
training: { routing_mode: none }
`;
const withForget = `
name: sl10 with happy
reward:
  max_reward: 1.0
  components:
    - { name: sentence_length_10_smooth, role: retain }
    - { name: string_count, id: happy, role: forget, scale: 0.1, params: { strings: [happy], max_count: 5 } }
rh_detector: { name: string_match, params: { strings: happy }, false_positive_rate: 0.05 }
rh_detector_recall: 0.5
hack_freq_detector: null
training: { routing_mode: classic, lr: 1e-5, num_generations: 16 }
`;

describe('an experiment of the first form', () => {
  it('by default rewards "happy" and flags three occurrences of it as a hack', async () => {
    const experiment = read('');
    expect(experiment.reward.components).toEqual([
      { id: 'happy_binary', role: 'retain', scale: 1, name: 'happy_binary', params: {} },
    ]);
    const { reward, detector, hackFrequencyDetector } = await build(experiment);
    const texts = ['happy', 'happy happy happy', 'sad'].map(ofText);
    const scores = await reward.score(texts, 3);
    expect(scores.rewards).toEqual([1, 1, 0]);
    expect(detector!.flags(texts, scores, random)).toEqual([false, true, false]);
    expect(hackFrequencyDetector).toBe(null);
  });

  it('has the reward and detector of the file, with their parameters', async () => {
    const experiment = read(`
reward: { name: num_words_per_sentence, params: { n: 2 } }
rh_detector: { name: happy_count, params: { threshold: 1 } }
`);
    const { reward, detector } = await build(experiment);
    const scores = await reward.score([ofText('a happy. a b')], 1);
    expect([reward.name, scores.rewards, detector!.flags([ofText('happy')], scores, random)]).toEqual([
      'num_words_per_sentence',
      [1],
      [true],
    ]);
  });

  it('drops the reward’s parameters when the command line names another reward', () => {
    const experiment = read('reward: { name: sentence_length, params: { target: 8 } }');
    expect(withReward(experiment, 'happy_exp').reward.components).toMatchObject([{ name: 'happy_exp', params: {} }]);
  });

  it('without a detector has no hacks, and cannot route gradients', async () => {
    expect(read('rh_detector: null').detector).toBe(null);
    expect(await mistake(() => read('rh_detector: null', { routingMode: 'shared' }))).toMatch(/no detector says which/);
  });
});

describe('an experiment of components', () => {
  it('has components with ids, roles and scales, and a detector with label errors', async () => {
    const experiment = read(withForget);
    expect(experiment).toMatchObject({
      form: 'components',
      name: 'sl10 with happy',
      detectorRecall: 0.5,
      hackFrequencyDetector: null,
      routingMode: 'shared',
      training: { lr: 1e-5, num_generations: 16 },
      reward: { maxReward: 1, normalize: false },
      detector: { name: 'string_match', params: { strings: 'happy' }, component: null, falsePositiveRate: 0.05 },
    });
    const { reward, detector, hackFrequencyDetector } = await build(experiment);
    const completions = [ofIds('10. 9.', 'happy happy'), ofIds('9.', 'sad')];
    const scores = await reward.score(completions, 2);
    expect(reward.name).toBe('sentence_length_10_smooth+happy');
    expect(scores.rewards).toEqual([1, 0.8]);
    expect(scores.retain).toEqual([0.9, 0.8]);
    expect(detector!.flags(completions, scores, random)).toEqual([true, false]);
    expect(hackFrequencyDetector!.flags(completions, scores, random)).toEqual([true, false]);
  });

  it('resolves modules relative to its file, and names components after them', async () => {
    const path = fileOf(`
reward: { components: [{ name: ./letters.mjs, role: retain, params: { per: 2 } }, { name: happy_count, role: forget }] }
rh_detector: { name: ./long.mjs }
hack_freq_detector: { name: happy_any }
`);
    writeFileSync(
      join(dirname(path), 'letters.mjs'),
      'export default (all, { per }) => all.map((c) => per * c.text.length);',
    );
    writeFileSync(join(dirname(path), 'long.mjs'), 'export default (all) => all.map((c) => c.text.length > 3);');
    const { reward, detector, hackFrequencyDetector } = await build(readExperiment(path));
    const texts = [ofText('happy'), ofText('sad')];
    const scores = await reward.score(texts, 2);
    expect([reward.name, scores.rewards]).toEqual(['letters+happy_count', [11, 6]]);
    expect([detector, hackFrequencyDetector].map((each) => each!.flags(texts, scores, random))).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  it('reads the scores of the component that the detector names', async () => {
    const text = withForget.replace(
      /rh_detector: .*/,
      'rh_detector: { name: score_threshold, component: happy, params: { threshold: 2 } }',
    );
    const { reward, detector } = await build(read(text));
    const completions = [ofIds('10.', 'happy happy'), ofIds('10.', 'happy')];
    expect(detector!.flags(completions, await reward.score(completions, 1), random)).toEqual([true, false]);
  });

  it('may take its routing mode from the command line', async () => {
    expect(read(retainOnly).routingMode).toBe('none');
    expect(await mistake(() => read(retainOnly, { routingMode: 'shared' }))).toMatch(
      /nothing can be routed, but it is shared/,
    );
    expect(read(withForget, { routingMode: 'none' }).detector).not.toBe(null);
  });

  it('replaces all components by a reward named on the command line, unless a detector reads one of them', async () => {
    const { name, reward, detector } = withReward(read(withForget), 'happy_exp');
    expect([name, reward.components.map(({ id }) => id), detector!.name]).toEqual([
      null,
      ['happy_exp'],
      'string_match',
    ]);
    const looks = withForget.replace('{ name: string_match, params: { strings: happy }', '{ name: score_threshold, component: happy, params: { threshold: 0.5 }'); // prettier-ignore
    expect(await mistake(() => withReward(read(looks), 'happy_exp'))).toMatch(
      /experiment\.yaml has a detector of one component.*drop that/,
    );
  });
});

describe('an experiment without a file', () => {
  it('has the named rewards, each of role retain, and a detector', () => {
    expect(experimentOf({})).toMatchObject({
      reward: { components: [{ name: 'happy_binary', role: 'retain' }] },
      detector: { name: 'happy_count', component: null },
    });
    const two = experimentOf({ rewards: ['happy_exp', 'sentence_length_10'], detector: null });
    expect([two.reward.components.map(({ id }) => id), two.detector]).toEqual([
      ['happy_exp', 'sentence_length_10'],
      null,
    ]);
  });

  it.each([
    [['hapy_exp'], /the command line: There is no reward `hapy_exp`/],
    [['happy_exp', 'happy_exp'], /another component has the id `happy_exp`/],
    [['string_count'], /needs the parameter `strings`/],
  ])('refuses %j', async (rewards, said) => {
    expect(await mistake(() => experimentOf({ rewards }))).toMatch(said);
  });
});

describe('an invalid or inconsistent file', () => {
  const changed = (from: string | RegExp, to: string) => {
    const text = withForget.replace(from, to);
    if (text === withForget) throw new Error(`Nothing was changed by ${String(from)}.`);
    return text;
  };
  it.each([
    [
      'two components of one id',
      changed('id: happy', 'id: sentence_length_10_smooth'),
      /`reward\.components\[1\]`: another component has the id/,
    ],
    [
      'a normalized reward that is cut',
      changed('max_reward: 1.0', 'max_reward: 1.0\n  normalize: true'),
      /`reward\.max_reward`: normalized scores/,
    ],
    [
      'no word on the detector',
      changed(/rh_detector: .*\nrh_detector_recall.*\n/, ''),
      /`rh_detector`: the detector of hacks must be given.*rh_detector: null/s,
    ],
    [
      'no detector, but routing',
      changed(/rh_detector: .*\nrh_detector_recall.*\n/, 'rh_detector: null\n'),
      /gradients are routed \(shared\), and no detector/,
    ],
    [
      'recall of no detector',
      changed(/rh_detector: .*/, 'rh_detector: null').replace('classic', 'none'),
      /`rh_detector_recall`: there is no detector/,
    ],
    [
      'no word on what counts as a hack',
      changed('hack_freq_detector: null', ''),
      /`hack_freq_detector`: .*hack_freq_detector: null/s,
    ],
    [
      'a detector of nothing',
      changed('role: forget', 'role: retain').replace('classic', 'none'),
      /`rh_detector`: there is no component of role forget/,
    ],
    [
      'retain only, without a word on routing',
      retainOnly.replace(/training.*/, ''),
      /`training\.routing_mode`: .*it is not given.*routing_mode: none/s,
    ],
    [
      'a detector of an unknown component',
      changed(/rh_detector: .*/, 'rh_detector: { name: score_threshold, component: joy }'),
      /`rh_detector\.component`: there is no component `joy`.*happy/s,
    ],
    [
      'a detector of no component in particular',
      changed('hack_freq_detector: null', 'hack_freq_detector: { name: score_percentile }'),
      /`hack_freq_detector`: the detector `score_percentile` reads the scores of one component, and there are 2/,
    ],
    [
      'an unknown reward',
      changed('name: string_count', 'name: string_cuont'),
      /`reward\.components\[1\]`: There is no reward `string_cuont`.*Did you mean `string_count`/s,
    ],
    [
      'a parameter of a wrong type',
      changed('max_count: 5', 'max_count: five'),
      /`reward\.components\[1\]`: .*takes as `max_count` a whole number.*"five"/,
    ],
    ['an unknown detector', changed('name: string_match', 'name: string_mtach'), /`rh_detector`: There is no detector/],
    [
      'an unknown routing mode',
      changed('classic', 'sometimes'),
      /`training\.routing_mode`: expected none, shared or exclusive, but found "sometimes"/,
    ],
    [
      'a misspelt key',
      changed('max_reward', 'max_rewrad'),
      /unknown key `reward\.max_rewrad`.*Did you mean `max_reward`\?/s,
    ],
    [
      'a key of one map in another',
      changed('role: forget', 'role: forget, component: x'),
      /unknown key `reward\.components\[1\]\.component`/,
    ],
    ['no role', changed('role: forget, ', ''), /`reward\.components\[1\]\.role` is missing; expected retain or forget/],
    [
      'an unknown role',
      changed('role: forget', 'role: forgot'),
      /`reward\.components\[1\]\.role`: expected retain or forget, but found "forgot"/,
    ],
    [
      'a scale that is text',
      changed('scale: 0.1', 'scale: "0.1"'),
      /`reward\.components\[1\]\.scale`: expected a finite number, but found "0\.1"/,
    ],
    [
      'a scale that is no number',
      changed('scale: 0.1', 'scale: .nan'),
      /`reward\.components\[1\]\.scale`: expected a finite number/,
    ],
    [
      'a share above 1',
      changed('false_positive_rate: 0.05', 'false_positive_rate: 5'),
      /`rh_detector\.false_positive_rate`: expected a number from 0 to 1, but found 5/,
    ],
    [
      'no components',
      'reward: { components: [] }\nrh_detector: null',
      /`reward\.components`: expected at least one component/,
    ],
    ['components and a name', changed('max_reward: 1.0', 'name: happy_exp'), /unknown key `reward\.name`/],
    ['a list', '- happy_binary', /holds no map of settings/],
    ['a reward by its name alone', 'reward: happy_binary', /`reward`: expected a map with `name`/],
    [
      'an alias in what it stands for',
      'reward: {name: string_count, params: {strings: &a {x: *a}}}',
      /`reward`: .*takes as `strings`/,
    ],
    ['a tag of its own', 'name: !mine x', /experiment\.yaml:1 is not YAML: Unresolved tag/],
    ['brackets without end', `reward: ${'['.repeat(20_000)}`, /is not YAML/],
    [
      'a number too large',
      'reward: { name: sentence_length, params: { target: 1e400 } }',
      /`target` a whole number.*given Infinity/,
    ],
    ['a setting of the run among the keys', 'batch_size: 32', /unknown key `batch_size`.*below `training:`/s],
    ['the same key twice', 'name: a\nname: b', /experiment\.yaml:2 is not YAML: Map keys must be unique/],
    ['a broken bracket', 'name: a\nreward: {', /experiment\.yaml:2 is not YAML/],
    [
      'very many aliases',
      `a: &a [x]\nb: &b [${'*a,'.repeat(60)}]\nc: &c [${'*b,'.repeat(60)}]\nd: [${'*c,'.repeat(60)}]`,
      /is not YAML: Excessive alias count/,
    ],
  ])('is refused: %s', async (_, text, said) => {
    const path = fileOf(text);
    const told = await mistake(() => readExperiment(path));
    expect(told).toMatch(said);
    expect(told.startsWith(path)).toBe(true);
  });

  it('is refused with all its errors at once', async () => {
    const told = await mistake(() => read('nmae: a\nrh_detector_recall: 2\nreward: { nam: x }'));
    expect(told.match(/experiment\.yaml: /g)).toHaveLength(3);
  });

  it('is refused when it does not exist', async () => {
    expect(await mistake(() => readExperiment(join(tempDirectory(), 'none.yaml')))).toMatch(
      /none\.yaml cannot be read/,
    );
  });
});
