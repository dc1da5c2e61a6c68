import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../../tiers.js';
import { timesAsMuch } from '../../../times-as-much.js';
import { attemptSeparator } from '../../../../src/contract/files.js';
import { LogRows } from '../../../../src/metrics/formats/log/log-rows.js';

const rowsIn = (...lines: string[]) => {
  const rows = new LogRows();
  return lines.flatMap((line) => rows.take(line));
};
const bar = (done: number, total: number, rest = '') =>
  `train: ${Math.floor((100 * done) / total)}%|███  | ${done}/${total} [00:10<01:30, 2.50it/s${rest}]`;

const progressOf = (...lines: string[]) => {
  const rows = new LogRows();
  for (const line of lines) rows.take(line);
  return rows.progress;
};

describe('a bar that is drawn anew within another one', () => {
  const epoch = (done: number) => `Epoch: ${Math.floor((100 * done) / 3)}%|█  | ${done}/3 [00:10<01:30, 2.50it/s]`;
  const epochs = (...inner: string[]) => [0, 1, 2].flatMap((at) => [epoch(at), ...inner]);

  it('has rows at steps that are counted over all of its turns', () => {
    const rows = rowsIn(...epochs(bar(1, 2, ', loss=0.5'), bar(2, 2, ', loss=0.25')));
    expect(rows.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rows[1]).toEqual({ step: 2, loss: 0.25 });
  });

  it('has one where it is full if it is a second one, at the step of the training and under its own name', () => {
    const second = (done: number, rest: string) => bar(done, 7, rest).replace('train', 'Validation');
    const inner = [bar(2, 2, ', loss=0.5'), second(3, ', loss=0.9'), second(7, ', loss=0.7, val_acc=0.2')];
    expect(rowsIn(...epochs(...inner)).slice(0, 4)).toEqual([
      { step: 2, loss: 0.5 },
      { step: 2, 'validation/loss': 0.7, val_acc: 0.2 },
      { step: 4, loss: 0.5 },
      { step: 4, 'validation/loss': 0.7, val_acc: 0.2 },
    ]);
  });

  it('has none where it is not full, or has no name beside one that has rows itself', () => {
    const others = [bar(2, 4, ', acc=0.5'), bar(4, 4, ', acc=0.5').replace('train: ', '')];
    expect(rowsIn(bar(1, 9, ', loss=1'), bar(2, 9, ', loss=0.5'), ...others)).toEqual([
      { step: 1, loss: 1 },
      { step: 2, loss: 0.5 },
    ]);
  });
});

describe('a line of a log', () => {
  it.each<{ line: string; row: Record<string, unknown> | null }>([
    { line: 'global_step=100, episodic_return=12.5', row: { step: 100, global_step: 100, episodic_return: 12.5 } },
    { line: 'INFO done: loss=1e-3 acc=.5 | x=-2', row: { loss: 0.001, acc: 0.5, x: -2 } },
    { line: '2026-01-01 12:00:00,123 - trainer - INFO - loss = nan', row: { loss: NaN } },
    { line: 'python train.py --lr=0.1 --seed=3', row: null },
    { line: 'url=http://host/?a=1', row: null },
    { line: 'SPS: 1234', row: { SPS: 1234 } },
    { line: 'loss: 0.25 - accuracy: 0.9 - val_loss: 0.3', row: { loss: 0.25, accuracy: 0.9, val_loss: 0.3 } },
    { line: 'Epoch 3/10, train loss: 0.5, lr: 1e-4', row: { epoch: 3, 'train loss': 0.5, lr: 0.0001 } },
    { line: 'step 20 | loss: 0.5', row: { step: 20, loss: 0.5 } },
    { line: 'Loaded 3 files: 20 rows', row: null },
    { line: 'Serving at: http://localhost:8080', row: null },
    { line: "{'loss': 1.9422, 'grad_norm': 8.7, 'learning_rate': 1e-05, 'epoch': 0.3}", row: { loss: 1.9422, grad_norm: 8.7, learning_rate: 1e-5, epoch: 0.3 } }, // prettier-ignore
    { line: "{'loss': '1.942', 'epoch': '0.3'}", row: { loss: 1.942, epoch: 0.3 } },
    { line: "I 10:00 {'a': nan, 'b': -inf, 'c': True, 'd': None, 'e': {'f': 1}}", row: { a: NaN, b: -Infinity, c: true, d: null, e: { f: 1 } } }, // prettier-ignore
    { line: "{'loss': tensor(0.5, device='cuda:0'), 'acc': np.float64(0.25)}", row: { loss: 0.5, acc: 0.25 } },
    { line: '{"step": 3, "loss": NaN}', row: { step: 3, loss: NaN } },
    { line: '{"ts": 1.7e9, "level": 30, "msg": "hello"}', row: { ts: 1.7e9, level: 30, msg: 'hello' } },
    { line: "{'unfinished': 1", row: null },
    { line: '\u001b[32mloss=0.5\u001b[0m', row: { loss: 0.5 } },
    // XGBoost 3.2.0, LightGBM 4.7.0
    { line: '[0]\teval-logloss:0.23338\ttrain-logloss:0.23316', row: { step: 0, 'eval-logloss': 0.23338, 'train-logloss': 0.23316 } }, // prettier-ignore
    { line: "[20]\tvalid_0's l1: 0.431129\tvalid_0's l2: 0.198063", row: { step: 20, "valid_0's l1": 0.431129, "valid_0's l2": 0.198063 } }, // prettier-ignore
    { line: '[12:30:05] WARNING: src/learner.cc:790: rounds 3', row: null },
    // pytorch/examples: mnist, word_language_model, reinforce
    { line: 'Train Epoch: 2 [640/6000 (11%)]\tLoss: 2.300039', row: { step: 6640, epoch: 2, Loss: 2.300039 } },
    { line: 'Test set: Average loss: 0.0523, Accuracy: 983/1000 (98%)', row: { 'test/Average loss': 0.0523, 'test/Accuracy': 98.3 } }, // prettier-ignore
    { line: '| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.34 | loss  7.60 | ppl  2000.00', row: { step: 200, epoch: 1, lr: 20, 'ms/batch': 12.34, loss: 7.6, ppl: 2000 } }, // prettier-ignore
    { line: '| end of epoch   1 | time: 12.34s | valid loss  5.21 | valid ppl   183.09', row: { epoch: 1, time: 12.34, 'valid loss': 5.21, 'valid ppl': 183.09 } }, // prettier-ignore
    { line: 'Episode 10\tLast reward: 26.00\tAverage reward: 16.00', row: { episode: 10, 'Last reward': 26, 'Average reward': 16 } }, // prettier-ignore
    // nanoGPT
    { line: 'iter 30: loss 4.2874, time 25.34ms, mfu -100.00%', row: { step: 30, loss: 4.2874, time: 25.34, mfu: -100 } }, // prettier-ignore
    { line: 'step 50: train loss 3.1, val loss 3.25', row: { step: 50, 'train loss': 3.1, 'val loss': 3.25 } },
    { line: 'step 20: loading shard 3', row: null },
    // However the step and the values are written
    { line: 'Step 3: loss = 1.25', row: { step: 3, loss: 1.25 } },
    { line: 'step 1,000: loss 2.5', row: { step: 1000, loss: 2.5 } },
    { line: 'step 3/60 | loss 1.2 | lr 1e-3', row: { step: 3, loss: 1.2, lr: 0.001 } },
    { line: '100/1000 loss=0.5', row: { step: 100, loss: 0.5 } },
    { line: '(1/5) loss: 0.3', row: { step: 1, loss: 0.3 } },
    { line: 'Episode 7: reward = 10.5', row: { episode: 7, reward: 10.5 } },
    { line: 'Iter 10 loss nan acc -inf', row: { step: 10, loss: NaN, acc: -Infinity } },
    { line: 'Reward: 12.5, Steps: 30', row: { Reward: 12.5, Steps: 30 } },
    { line: '[Eval] Epoch 1 loss: 0.4 acc: 45.2%', row: { epoch: 1, 'eval/loss': 0.4, 'eval/acc': 45.2 } },
    { line: 'Time 12:30:11 step 5 loss 0.3', row: { step: 5, loss: 0.3 } },
    { line: 'number of parameters: 10.65M', row: { 'number of parameters': 10_650_000 } },
    // ignite 0.5.5, optuna 5.0.0, d3rlpy 2.8.1
    { line: 'Validation Results - Epoch: 2 Avg accuracy: 0.28 Avg loss: 2.27', row: { epoch: 2, 'validation/Avg accuracy': 0.28, 'validation/Avg loss': 2.27 } }, // prettier-ignore
    { line: 'ITERATION - loss: 2.27:  96%|█████████▌| 90/94 [00:14<00:00, 19.84it/s]', row: { step: 90, loss: 2.27 } },
    { line: 'Epoch 3:  96%|█████████▌| 90/94 [00:14<00:00, 19.84it/s]', row: null },
    { line: "[I 2026-11-23 01:05:14,123] Trial 3 finished with value: 0.96 and parameters: {'c': 'SVC', 'x': 1e-05}. Best is trial 0 with value: 0.97.", row: { trial: 3, value: 0.96, 'best value': 0.97 } }, // prettier-ignore
    { line: "01:05 [info ] epoch=1 metrics={'time_step': 0.03, 'critic_loss': 0.5} step=10000", row: { time_step: 0.03, critic_loss: 0.5, epoch: 1, step: 10000 } }, // prettier-ignore
    { line: "01:05 [info ] Parameters params={'gamma': 0.99, 'scaler': {'type': 'none'}}", row: null },
    { line: "{'a': 'none', 'loss': '0.5', 'b': 'nan'}", row: { a: 'none', loss: 0.5, b: NaN } },
    { line: '', row: null },
  ])('$line', ({ line, row }) => {
    expect(rowsIn(line)).toEqual(row === null ? [] : [row]);
  });

  it('is a row of the step that the bar shows, where it has none of its own', () => {
    expect(rowsIn(bar(10, 100), "{'loss': 1.5, 'epoch': 0.1}", bar(20, 100, ', loss=0.5'))).toEqual([
      { step: 10, loss: 1.5, epoch: 0.1 },
      { step: 20, loss: 0.5 },
    ]);
  });

  it('is one for each epoch of Keras, whose bars are progress', () => {
    const keras = (done: number, metrics: string) => `\u001b[1m${done}/1250\u001b[0m \u001b[32m━━━━\u001b[0m\u001b[37m━━\u001b[0m \u001b[1m9s\u001b[0m 10ms/step - ${metrics}${'\b'.repeat(80)}`; // prettier-ignore
    const rows = new LogRows();
    const take = (...lines: string[]) => lines.flatMap((line) => rows.take(line));
    expect(take('Epoch 1/2', keras(255, 'acc: 0.07 - loss: 0.08'))).toEqual([]);
    expect(rows.progress).toEqual({ share: 255 / 2500, etaSeconds: null, rate: '10ms/step' });
    expect(take(keras(1250, 'acc: 0.1 - loss: 0.2'), keras(1250, 'acc: 0.1 - loss: 0.2 - val_loss: 0.3'))).toEqual([
      { step: 1250, acc: 0.1, loss: 0.2 },
      { step: 1250, acc: 0.1, loss: 0.2, val_loss: 0.3 },
    ]);
    expect(take('Epoch 2/2', '1250/1250 - 5s - 4ms/step - acc: 0.2 - loss: 0.1')).toEqual([{ step: 2500, acc: 0.2, loss: 0.1 }]); // prettier-ignore
    // Of `evaluate` and `predict`.
    expect(take('1563/1563 ━━━━━━ 2s 1ms/step - acc: 0.9 - loss: 0.9', '1563/1563 ━━━━━━ 2s 1ms/step')).toEqual([]);
    expect(take('Epoch 1/2', '100/200 [====>.....] - ETA: 9s - loss: 0.5')).toEqual([]);
  });

  it('is a row of the step that the bar shows when it is drawn again, where it was wiped away for the line', () => {
    const wiped = ' '.repeat(60);
    const lines = [bar(2, 16), wiped, "{'loss': 5, 'epoch': 0.5}", '', bar(4, 16), wiped, "{'loss': 4, 'epoch': 1}", '', bar(8, 16)]; // prettier-ignore
    expect(rowsIn(...lines)).toEqual([
      { step: 4, loss: 5, epoch: 0.5 },
      { step: 8, loss: 4, epoch: 1 },
    ]);
  });

  it('waits for that bar, and for no other', () => {
    const rows = new LogRows();
    const take = (line: string) => rows.take(line).map((row) => row['step']);
    expect([bar(2, 16), '   ', "{'loss': 5}", bar(0, 3)].flatMap(take)).toEqual([]);
    expect(rows.peek(bar(4, 16).slice(0, -1))).toEqual([]);
    expect(rows.peek(bar(4, 16))).toEqual([{ step: 4, loss: 5 }]);
    expect(take(bar(4, 16))).toEqual([]);
    expect(['   ', 'loss: 4', 'Saving.'].flatMap(take)).toEqual([4]);
  });

  it('is none among the arguments of a call, but is behind what looks like one', () => {
    expect(rowsIn('TrainingArguments(', 'lr=5e-05,', 'max_steps=-1,', ')', 'loss=1')).toEqual([{ loss: 1 }]);
    expect(rowsIn('x.py:3: UserWarning: old', '  warnings.warn(', 'loss=1')).toEqual([{ loss: 1 }]);
  });

  it('counts on over epochs, also of an attempt that begins with a later one', () => {
    const lines = ['[1, 10] loss: 3', '[1, 20] loss: 2', '[2, 10] loss: 1', attemptSeparator(2, new Date(0)), '[3, 10] loss: 0']; // prettier-ignore
    expect(rowsIn(...lines).map((row) => row['step'])).toEqual([10, 20, 30, 50]);
  });

  it.each([
    { what: 'within an epoch', lines: ['epoch 1 step 50 loss 2', 'epoch 2 step 50 loss 1', 'epoch 2 step 60 loss 1'], steps: [50, 100, 110] }, // prettier-ignore
    { what: 'of all epochs', lines: ['epoch 1 step 50 loss 2', 'epoch 2 step 60 loss 1', 'epoch 3 step 70 loss 1'], steps: [50, 60, 70] }, // prettier-ignore
    { what: 'of all epochs, with their number', lines: ['epoch 1 step 50/90 loss 2', 'epoch 2 step 60/90 loss 1'], steps: [50, 60] }, // prettier-ignore
    { what: 'that begin with 0', lines: ['Epoch: [0][90/100] Loss 2', 'Epoch: [1][0/100] Loss 1'], steps: [90, 100] },
  ])('tells steps $what', ({ lines, steps }) => {
    expect(rowsIn(...lines).map((row) => row['step'])).toEqual(steps);
  });

  it('keeps the step of the training while a bar of an evaluation runs inside it', () => {
    const rows = rowsIn(
      bar(10, 100),
      "{'loss': 1}",
      bar(0, 5),
      bar(5, 5),
      "{'eval_loss': 2}",
      bar(11, 100),
      "{'loss': 3}",
    );
    expect(rows.map((row) => row['step'])).toEqual([10, 10, 11]);
  });

  it('goes on counting where a bar of the same length begins again', () => {
    const rows = rowsIn(bar(3, 5), 'loss=1', bar(5, 5), bar(0, 5), bar(2, 5), 'loss=2');
    expect(rows.map((row) => row['step'])).toEqual([3, 7]);
  });

  it('forgets the bar of what came before the training', () => {
    expect(rowsIn(bar(10_000, 10_000), bar(1, 12), 'loss=1')).toEqual([{ step: 1, loss: 1 }]);
  });

  it('begins anew with each attempt', () => {
    const separator = attemptSeparator(2, new Date(0));
    expect(rowsIn(bar(50, 100), 'loss=1', separator, bar(40, 100), 'loss=2').map((row) => row['step'])).toEqual([
      50, 40,
    ]);
  });
});

describe('how far a run says that it is', () => {
  it.each([
    { what: 'a bar', lines: [bar(25, 100)], progress: { share: 0.25, etaSeconds: 90, rate: '2.50it/s' } },
    { what: 'a bar that knows nothing yet', lines: ['  0%|   | 0/12 [00:00<?, ?it/s]'], progress: { share: 0, etaSeconds: null, rate: null } }, // prettier-ignore
    { what: 'an epoch', lines: ['Epoch 3/10'], progress: { share: 0.2, etaSeconds: null, rate: null } },
    { what: 'a bar in an epoch', lines: ['Epoch 2/4', bar(50, 100)], progress: { share: 0.375, etaSeconds: null, rate: '2.50it/s' } }, // prettier-ignore
    { what: 'the next epoch', lines: ['Epoch 1/4', bar(100, 100), 'Epoch 2/4'], progress: { share: 0.25, etaSeconds: null, rate: '2.50it/s' } }, // prettier-ignore
    { what: 'bytes that are fetched', lines: ['model: 45%|██ | 1.2G/2.7G [00:10<00:12, 120MB/s]'], progress: null },
    { what: 'rsl_rl', lines: ['     Learning iteration 11/100     ', '   Mean reward: 2.50', '   ETA: 1:02:03'], progress: { share: 0.12, etaSeconds: 3723, rate: null } }, // prettier-ignore
    { what: 'nothing', lines: ['loss=1'], progress: null },
  ])('$what', ({ lines, progress }) => {
    expect(progressOf(...lines)).toEqual(progress);
  });
});

describe("a program's own bar is progress", () => {
  it.each([
    { line: '[=====               ] 25.0%', share: 0.25, etaSeconds: null },
    { line: '[####----]   50%  00:00:03', share: 0.5, etaSeconds: null },
    { line: 'Progress: |██████----| 60.0% Complete', share: 0.6, etaSeconds: null },
    { line: '25% (5 of 20) |#####               | Elapsed Time: 0:00:01 ETA:   0:00:03', share: 0.25, etaSeconds: 3 },
    { line: 'on 5: |██████████          | 5/20 [25%] in 1s (5.0/s, eta: 0:03)', share: 0.25, etaSeconds: 3 },
    { line: 'Working... ━━━━━━━━━━╸          25% 0:00:10', share: 0.25, etaSeconds: null },
    { line: 'epoch |████████-------| 25.00% [5/20 00:10<00:30 loss: 0.5]', share: 0.2125, etaSeconds: null },
    { line: 'model.pt   45%[=====>      ]   1.21G  120MB/s    eta 12s', share: null, etaSeconds: null },
    { line: ' [>......................]  Step: 25ms | Acc: 10.156% (13/128)', share: null, etaSeconds: null },
    { line: 'tests/test_model.py::test_loss PASSED [ 50%]', share: null, etaSeconds: null },
  ])('$line', ({ line, share, etaSeconds }) => {
    expect(progressOf(line)).toEqual(share === null ? null : { share, etaSeconds, rate: null });
  });

  it.each(['Training... 25%', 'Done: 5/20', 'Processing 5 of 20'])(
    'without a drawing where it is drawn again: %s',
    (line) => {
      const rows = new LogRows();
      rows.take(line);
      expect(rows.progress).toBeNull();
      rows.peek(line, true);
      expect(rows.progress?.share).toBe(0.25);
    },
  );

  it('counts within the epoch that a line above names', () => {
    expect(progressOf('Epoch 2/4', '[==========          ] 50%')?.share).toBe(0.375);
  });
});

it('lies between two steps where more is printed than the bar counts', () => {
  const lines = [bar(1, 9), 'loss=5', 'loss=4', 'loss=3', bar(2, 9), 'loss=2', bar(4, 9), 'loss=1'];
  expect(rowsIn(...lines).map((row) => row['step'])).toEqual([1, 2, 3, 3.5, 4]);
});

describe('own patterns', () => {
  it('are tried in the time of the line, whatever they are', () => {
    const rows = new LogRows({ loss: '^(?:a+)+([0-9])$', acc: 'acc (\\S+)' });
    const look = (length: number) => expect(rows.take(`${'a'.repeat(length)}!`)).toEqual([]);
    // Four times the line.
    const growth = timesAsMuch(
      () => look(1600),
      () => look(400),
    );
    expect(growth).toBeLessThan(9);
    expect(rows.take('acc 0.5')).toEqual([{ acc: 0.5 }]);
  });

  it('make the rows, and nothing else does', () => {
    const rows = new LogRows({ loss: 'Loss is (\\S+)', 'eval/acc': 'accuracy of (\\d+)%', bad: '(' });
    const lines = ['x=5', 'Loss is 0.25 with an accuracy of 90%', 'Loss is unknown', 'Loss is nan'];
    expect(lines.flatMap((line) => rows.take(line))).toEqual([{ loss: 0.25, 'eval/acc': 90 }, { loss: NaN }]);
  });
});

/** What a pattern that looks at a text again and again would need minutes for, in lines of 8 KB. */
const units = [
  ...['1', '1 ', 'a ', 'a1 ', '[', '(', ']', '{', "{'", ' ', '\t', '|', '| ', '-', '=', 'a=', 'a=1 ', 'a:', 'a:1 ', '1:', '1/', '1/2 '],
  ...['[1/', '%', '1%|', '.', '1.', '1,', '1,000', '1e', 'inf', 'epoch 1 ', 'epoch [1/', 'loss 1 (', 'a (', 'a(', 'a)', '#', '*', '_'],
  ...['INFO ', '12:00:00 ', '2023-01-01 ', '[INFO] ', '0: ', 'params', 'args ', '━', '━ ', '1/2 [', ' - ', 'tensor([', '± ', '"', '\\', '\u001b['],
  ...['a[', 'a[a=1,', 'a{', 'a: (a: ', 'A: 1. ', 'a. ', '1h ', 'it [', ' remaining:', '1it/1it ', '.py: 1 ', '│ a ', '(step 1) ', ' [0-10]', '[(0, '],
]; // prettier-ignore
const heads = ['step 1 loss: 1. A ', '', '1/1 ', '| ', '{', 'epoch 1: ', 'loss 1 (', '[2023-01-01 12:00:00] '];

it.each(heads)('takes long lines of one kind of sign in no time: %j', { timeout: 60_000 }, (head) => {
  for (const unit of units) {
    for (const tail of ['', '|', '}', ']', '=1', '%']) {
      const line = head + unit.repeat(Math.ceil(8190 / unit.length)).slice(0, 8190 - head.length - tail.length) + tail;
      expect(rowsIn(line).length).toBeLessThan(2);
    }
  }
});

/** How often a pattern is tried while this is done. */
function triesOf(work: () => void): number {
  const own = Object.getOwnPropertyDescriptor(RegExp.prototype, 'exec')!;
  const exec = own.value as (this: RegExp, text: string) => RegExpExecArray | null;
  let tries = 0;
  // A spy would keep each of half a million texts.
  RegExp.prototype.exec = function (text) {
    tries += 1;
    return exec.call(this, text);
  };
  try {
    work();
    return tries;
  } finally {
    Object.defineProperty(RegExp.prototype, 'exec', own);
  }
}

it('tries patterns a bounded number of times for a line, whatever it is made of', () => {
  const most = units.map((unit) => {
    const line = `x=1 ${unit.repeat(Math.ceil(8190 / unit.length))}`.slice(0, 8190);
    return { unit, tries: triesOf(() => void rowsIn(line)) };
  });
  expect(most.filter(({ tries }) => tries > 14_000)).toEqual([]);
  expect(Math.max(...most.map(({ tries }) => tries))).toBeGreaterThan(1000);
});

property('takes any line without fail', 300, (examples) => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.stringMatching(/^[{}'":,=|%\[\]()0-9a-z \-]{0,200}$/),
    fc.constantFrom('{'.repeat(20_000), 'a=1 '.repeat(20_000), '%|'.repeat(20_000), "{'".repeat(9000), '| a | '.repeat(5000), '('.repeat(8000)), // prettier-ignore
  );
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 20 }), (lines) => {
      for (const row of rowsIn(...lines)) expect(Object.keys(row).length).toBeLessThan(5000);
    }),
    examples,
  );
});
