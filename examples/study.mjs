// A study of a sweep: the last accuracy of its runs by learning rate. Run it by hand, or as a group of the sweep that needs the others:
//   node study.mjs runs/SWEEP
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const sweep = process.argv[2];
const read = (file) => readFileSync(`${sweep}/${file}`, 'utf8');
const runs = readdirSync(sweep).filter((name) => existsSync(`${sweep}/${name}/metrics.jsonl`));
const accuracies = {};
for (const run of runs) {
  const { lr } = JSON.parse(read(`${run}/run.json`)).parameters;
  const { accuracy } = JSON.parse(read(`${run}/metrics.jsonl`).trim().split('\n').at(-1));
  if (accuracy !== undefined) (accuracies[lr] ??= []).push(accuracy);
}

const rates = Object.entries(accuracies).map(([lr, all]) => {
  const value = all.reduce((sum, each) => sum + each, 0) / all.length;
  return { lr: Number(lr), value, interval: [Math.min(...all), Math.max(...all)], n: all.length };
});
if (rates.length === 0) throw new Error(`No run in ${sweep} has written an \`accuracy\`.`);
rates.sort((a, b) => b.value - a.value);
const study = {
  version: 1,
  title: 'accuracy by learning rate',
  notes: ['In brackets: from the worst seed to the best.'],
  tables: [
    {
      columns: ['lr', { title: 'accuracy', unit: '%' }],
      rows: rates.map(({ lr, ...accuracy }, place) => ({ cells: [lr, accuracy], best: place === 0 })),
    },
  ],
  figures: [
    {
      title: 'Accuracy over learning rate',
      x: { title: 'lr', log: true },
      y: 'accuracy',
      series: [
        {
          kind: 'points',
          x: rates.map(({ lr }) => lr),
          y: rates.map(({ value }) => value),
          lo: rates.map(({ interval }) => interval[0]),
          hi: rates.map(({ interval }) => interval[1]),
        },
      ],
      lines: [{ y: 50, text: 'chance' }],
    },
  ],
  // In the charts of the metric itself.
  lines: [{ metrics: 'accuracy', y: 50, text: 'chance' }],
  verdicts: [
    {
      claim: 'The smallest rate is best.',
      verdict: rates[0].lr === Math.min(...rates.map(({ lr }) => lr)) ? 'holds' : 'does not hold',
    },
  ],
};
writeFileSync(`${sweep}/study.json`, JSON.stringify(study));
