import { describe, expect, it } from 'vitest';
import { Notify, Plan } from '../../../src/spec/planned-run.js';
import { policyWords } from '../../../src/spec/policy/policy-words.js';
import { planOf, refusal } from '../sweeps.js';

const runOf = (text: string, options = {}) => planOf(`command: [a]\n${text}`, options).runs[0]!;
const told = (text: string, options = {}) => refusal(() => planOf(`command: [a]\n${text}`, options));

describe('how runs are treated', () => {
  it('is as usual when the file says nothing', () => {
    const plan = planOf('command: [a]');
    expect(plan.runs[0]).toMatchObject({
      ...{
        retry: { max: 0, backoff: 5 },
        timeout: null,
        priority: 0,
        grace: 10,
        objective: null,
        earlyTerminate: null,
      },
      resources: { gpus: 'auto', per_gpu: 1, gpu_memory: null, mps: 'auto' },
    });
    expect(plan.groups[0]!.breaker).toEqual({ failures: 3, within: 10 });
    expect(plan.notify).toBeNull();
  });

  it.each<{ text: string; gives: object }>([
    { text: 'retry: 3', gives: { retry: { max: 3, backoff: 5, on: ['crash', 'oom', 'timeout', 'signal', 'lost'] } } },
    { text: 'retry: {max: 2, backoff: 1m, on: oom}', gives: { retry: { max: 2, backoff: 60, on: ['oom'] } } },
    { text: 'timeout: 90', gives: { timeout: 90 } },
    { text: 'timeout: 90s', gives: { timeout: 90 } },
    { text: 'timeout: 30m', gives: { timeout: 1800 } },
    { text: 'timeout: 1h30m', gives: { timeout: 5400 } },
    { text: 'timeout: 1.5d', gives: { timeout: 129_600 } },
    { text: 'grace: 2m', gives: { grace: 120 } },
    { text: 'priority: -3', gives: { priority: -3 } },
    { text: 'stdin: type', gives: { input: 'lines' } },
    { text: 'terminal: true', gives: { input: 'terminal' } },
    { text: 'terminal: true\nstdin: none', gives: { input: 'terminal' } },
    { text: 'resources: {gpu_memory: 800}', gives: { resources: { gpu_memory: 800 } } },
    { text: 'resources: {gpu_memory: 800MiB}', gives: { resources: { gpu_memory: 800 } } },
    { text: 'resources: {gpu_memory: 20GiB}', gives: { resources: { gpu_memory: 20_480 } } },
    { text: 'resources: {gpu_memory: 20GB}', gives: { resources: { gpu_memory: 20e9 / 2 ** 20 } } },
    { text: 'resources: {mps: off}', gives: { resources: { mps: 'off' } } },
    {
      text: 'metric: {name: acc, goal: maximize, target: 1}',
      gives: { objective: { name: 'acc', goal: 'maximize', target: 1 } },
    },
    {
      text: 'metric: {name: loss}\nearly_terminate: {type: asha, min_iter: 5}',
      gives: { objective: { name: 'loss', goal: 'minimize' }, earlyTerminate: { type: 'asha', min_iter: 5, eta: 3 } },
    },
    {
      text: 'metric: {name: loss}\nearly_terminate: {type: median}',
      gives: { earlyTerminate: { type: 'median', min_iter: 1, min_runs: 3 } },
    },
  ])('is read from the file: $text', ({ text, gives }) => expect(runOf(text)).toMatchObject(gives));

  it('is inherited by groups, which may replace it or switch it off', () => {
    const text = [
      'retry: 1\ntimeout: 1h\npriority: 2\nstdin: type\nresources: {gpu_memory: 100, cpus: 2}\nmetric: {name: loss}',
      'early_terminate: {type: median}\nbreaker: {failures: 5}',
      'groups: {A: {}, B: {stdin: none, timeout: null, early_terminate: null, metric: null, resources: {cpus: 4}, breaker: false}}',
    ].join('\n');
    const { runs, groups } = planOf(`command: [a]\n${text}`);
    expect(runs[0]).toMatchObject({ timeout: 3600, priority: 2, earlyTerminate: { type: 'median' } });
    expect(runs[1]).toMatchObject({ timeout: null, priority: 2, earlyTerminate: null, objective: null });
    expect(runs.map(({ input }) => input)).toEqual(['lines', undefined]);
    expect(runs[1]!.resources).toMatchObject({ gpu_memory: 100, cpus: 4 });
    expect(groups.map(({ breaker }) => breaker)).toEqual([{ failures: 5, within: 10 }, null]);
  });

  it('can be set on the command line', () => {
    const set = (...options: string[]) => runOf('metric: {name: loss}\nparameters: {a: 1}', { set: options });
    expect(set('retry=2', 'timeout=2h', 'priority=4', 'early_terminate={type: asha}')).toMatchObject({
      ...{ retry: { max: 2 }, timeout: 7200, priority: 4, earlyTerminate: { type: 'asha' } },
    });
    expect([set('stdin=type').input, set('terminal=true').input, set().input]).toEqual([
      'lines',
      'terminal',
      undefined,
    ]);
    expect(set('metric={name: acc, goal: maximize}').objective).toEqual({ name: 'acc', goal: 'maximize' });
    expect(told('parameters: {a: 1}', { set: ['timeout=soon'] })).toEqual({
      message: '`--set timeout=soon`: expected a time: seconds, or a text such as 90s, 30m, 2h, 1d, or null.',
      fix: 'Write for example `--set timeout=2h`, or `--set timeout=null`.',
    });
    expect(told('parameters: {a: 1}', { set: ['run_kap=3'] }).message).toContain('Did you mean `run_cap`?');
  });

  it('changes how many runs are drawn, and from which seed, on the command line', () => {
    const text = 'command: [a]\nmethod: random\nrun_cap: 4\nparameters: {x: {min: 0, max: 100000}}';
    expect(planOf(text, { set: ['run_cap=7'] }).runs).toHaveLength(7);
    expect(planOf(text, { set: ['sample_seed=1'] }).runs).not.toEqual(planOf(text).runs);
  });

  it('of a plan that an earlier version stored is still read', () => {
    const plan = planOf('command: [a]');
    const old = JSON.parse(JSON.stringify(plan)) as { notify?: unknown; groups: object[]; runs: object[] };
    delete old.notify;
    old.groups = old.groups.map((group) => ({ ...group, breaker: undefined }));
    old.runs = old.runs.map((run) => ({ ...run, retry: undefined, timeout: undefined, earlyTerminate: undefined }));
    expect(Plan.parse(JSON.parse(JSON.stringify(old)))).toEqual(plan);
  });

  it('of a line of a text file is as usual', () => {
    const { runs, groups } = planOf('true\nfalse\n', { path: 'x.txt' });
    expect(runs[0]).toMatchObject({ retry: { max: 0 }, timeout: null, priority: 0, earlyTerminate: null });
    expect(groups[0]!.breaker).toEqual({ failures: 3, within: 10 });
  });
});

describe('a mistake in the policy', () => {
  it.each<{ text: string; at: string; says: string }>([
    { text: 'retrys: 3', at: '2:1', says: 'Did you mean `retry`?' },
    { text: 'retry: -1', at: '2:8', says: 'expected a whole number from 0 on, but found the number -1' },
    {
      text: 'retry: often',
      at: '2:8',
      says: 'expected a number of retries, or {max: 3, backoff: 10s, on: [crash, oom]}',
    },
    { text: 'retry: {maxx: 3}', at: '2:9', says: '`maxx` is not a key of `retry`. Did you mean `max`?' },
    { text: 'retry: {backoff: 3}', at: '2:1', says: '`max` is missing' },
    { text: 'retry: {max: 1, on: [crsh]}', at: '2:22', says: 'one or more of crash, oom, timeout, signal, lost' },
    { text: 'timeout: 2x', at: '2:10', says: 'expected a time: seconds, or a text such as 90s, 30m, 2h, 1d' },
    { text: 'timeout: 0', at: '2:10', says: 'expected a time above 0' },
    { text: 'stdin: yes', at: '2:8', says: 'expected none or type' },
    { text: 'terminal: tmux', at: '2:11', says: 'expected true or false' },
    { text: 'priority: 1.5', at: '2:11', says: 'expected a whole number; the higher starts first' },
    { text: 'resources: {gpu_memory: 20XB}', at: '2:25', says: 'an amount of memory: MiB, or a text such as 20GB' },
    { text: 'resources: {gpu_memory: 0}', at: '2:25', says: 'expected more than 0' },
    { text: 'resources: {mpss: auto}', at: '2:13', says: 'Did you mean `mps`?' },
    { text: 'resources: {mps: maybe}', at: '2:18', says: 'expected auto or off' },
    { text: 'breaker: {failure: 2}', at: '2:11', says: 'Did you mean `failures`?' },
    { text: 'breaker: true', at: '2:10', says: 'expected false, or {failures: 3, within: 10}' },
    { text: 'metric: {goal: minimize}', at: '2:1', says: '`name` is missing' },
    { text: 'metric: {name: a, goal: low}', at: '2:25', says: 'expected minimize or maximize' },
    { text: 'metric: {name: a, gaol: minimize}', at: '2:19', says: 'Did you mean `goal`?' },
    { text: 'early_terminate: {type: hyperbnd}', at: '2:25', says: 'expected hyperband, asha or median' },
    { text: 'early_terminate: asha', at: '2:18', says: 'expected {type: hyperband, min_iter: 3, eta: 3} or null' },
    {
      text: 'early_terminate: {min_iter: 3}',
      at: '2:1',
      says: '`type` is missing; expected hyperband, asha or median',
    },
    { text: 'early_terminate: {type: asha, min_itre: 3}', at: '2:31', says: 'Did you mean `min_iter`?' },
    { text: 'early_terminate: {type: asha, eta: 1}', at: '2:36', says: 'expected a number above 1' },
    { text: 'early_terminate: {type: asha}', at: '2:1', says: 'there is no `metric`' },
    {
      text: 'metric: {name: a}\nearly_terminate: {type: hyperband, eta: 3}',
      at: '3:1',
      says: 'hyperband needs `min_iter`, or `max_iter` and `s`.',
    },
    {
      text: 'metric: {name: a}\nearly_terminate: {type: hyperband, max_iter: 2, s: 3}',
      at: '3:1',
      says: 'hyperband has no band',
    },
    { text: 'notify: {webhok: x}', at: '2:10', says: 'Did you mean `webhook`?' },
    { text: 'notify: {webhook: example.org}', at: '2:19', says: 'a web address that begins with https:// or http://' },
    { text: 'notify: {on: [fail]}', at: '2:15', says: 'one or more of failed, done, finished, held, unhealthy, nan' },
    { text: 'groups: {A: {notify: {on: failed}}}', at: '2:14', says: '`notify` is not a key of `groups.A`' },
    { text: 'run_cap: 0', at: '2:10', says: 'expected at least 1' },
    { text: 'method: gird', at: '2:9', says: 'expected grid, random, lhs, sobol or bayes' },
    { text: 'include: {a: 1}', at: '2:1', says: 'expected a list of maps from parameters to values' },
    { text: 'include: [{a: [1, 2]}]', at: '2:12', says: 'expected a number, a text, true, false or null' },
    {
      text: 'parameters: {a: [1, 2]}\nexclude: [{aa: 1}]',
      at: '3:11',
      says: 'there is no parameter `aa`. Did you mean `a`?',
    },
    {
      text: 'parameters: {a: [1, 2], b: {expr: a * 2}}\ninclude: [{b: 1}]',
      at: '3:11',
      says: '`b` is computed from the other parameters.',
    },
  ])('is told with its place: $text', ({ text, at, says }) => {
    const { message, fix } = told(text);
    expect(message).toContain(says);
    expect(message).toContain(`x.yaml:${at}:`);
    expect(fix).not.toBe('');
  });
});

describe('notify', () => {
  it.each([
    { on: 'unhealthy', kept: ['unhealthy'] },
    { on: '[failed, silent, disk]', kept: ['failed', 'silent', 'disk'] },
    { on: '[stalled, nan]', kept: ['silent', 'nan'] },
  ])('on $on is kept as $kept', ({ on, kept }) => {
    const plan = planOf(`command: [a]\nnotify: {command: [post], on: ${on}}`);
    expect(plan.notify?.on).toEqual(kept);
    expect(Plan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  it('says nothing of what to tell where the file does not, so that any supervisor takes what is usual', () => {
    expect(planOf('command: [a]\nnotify: {command: [post]}').notify).not.toHaveProperty('on');
  });

  it('of a plan that an earlier version stored has its words', () => {
    expect(Notify.parse({ command: ['post'], on: ['failed', 'stalled', 'nan'] }).on).toEqual([
      'failed',
      'silent',
      'nan',
    ]);
  });

  const text =
    'notify: {command: [post, "--token=${envvar:TOKEN}"], webhook: "https://x.org/${envvar:TOKEN}", on: failed}';

  it('fills in variables, so that no secret stands in the file', () => {
    const plan = planOf(`command: [a]\n${text}`, { environment: { TOKEN: 'abc' } });
    expect(plan.notify).toEqual({ command: ['post', '--token=abc'], webhook: 'https://x.org/abc', on: ['failed'] });
  });

  it('is refused for a variable that is not set', () => {
    expect(told(text).message).toContain('the environment has no variable `TOKEN`.');
    expect(told(text).message).toContain('x.yaml:2:26: notify.command[1]:');
  });

  it('is refused for another macro', () => {
    expect(told('notify: {command: ["${run_dir}"]}').message).toContain('`${run_dir}` means nothing here.');
  });

  it('does not show what a variable holds when that is no address', () => {
    const { message } = told('notify: {webhook: "${envvar:HOOK}"}', { environment: { HOOK: 'hush' } });
    expect(message).toContain('this is not a web address');
    expect(message).not.toContain('hush');
  });
});

describe('the words for a policy', () => {
  it('say nothing of what is as usual', () => expect(policyWords(runOf('parameters: {a: 1}'))).toEqual([]));

  it('say all that is not', () => {
    const text = [
      'priority: 5\nretry: {max: 3, backoff: 30, on: [crash, oom]}\ntimeout: 90m\ngrace: 60',
      'resources: {gpus: 1, per_gpu: 3, gpu_memory: 20GiB, mps: off, cpus: 4}',
      'stdin: type\nstop_when: {when: "loss < 0.1", for: 3}\nmetric: {name: loss, target: 0.1}',
      'early_terminate: {type: hyperband, min_iter: 3, strict: false}',
    ].join('\n');
    expect(policyWords(runOf(text))).toEqual([
      'priority 5',
      '3 retries after crash or oom, the first after 30s',
      'at most 1h30m',
      'reads what is typed',
      '1m to stop',
      '1 GPU',
      '3 runs on a GPU',
      '20 GiB of GPU memory',
      'without MPS',
      '4 cores',
      'ends when loss < 0.1, 3 times in a row',
      'ends early by hyperband (min_iter 3, eta 3, not strict)',
      'to minimize loss; no more runs start once one reaches 0.1',
    ]);
  });
});
