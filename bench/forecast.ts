import { readdirSync, rmSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forecastOf, type ForecastRun, type ForecastSetting } from '../src/analysis/forecast/forecast.js';
import { pngPainter } from '../src/cli/write-page.js';
import { type Quality, qualityOf } from '../test/analysis/forecast/quality.js';
import { type Look, readRecording, replay } from '../test/analysis/forecast/recorded-sweep.js';
import { median } from './support/quantile.js';
import { olderForecast } from './support/older-forecast.js';
import { timeLeftFigure } from './support/time-left-figure.js';

const OLDER = '2592e47';
/** Where the figure goes; absent: it is not drawn. */
const picture = process.env['TIME_LEFT_PNG'];

/** The recorded sweeps of test/fixtures/forecast/ through the forecast, and through that of an older commit; and what one costs. */
export async function benchForecast(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'forecast-'));
  try {
    const older = await olderForecast(folder, OLDER);
    const names = readdirSync('test/fixtures/forecast').map((file) => file.replace('.json', ''));
    const replayed = names.map((name) => {
      const recording = readRecording(name);
      return { name, now: replay(recording), before: replay(recording, older.forecasts()) };
    });
    if (picture !== undefined) writeFileSync(picture, (await pngPainter()).png(timeLeftFigure(replayed)));
    return [
      'from three tenths of the time on: middle within × 1.5 · range holds the truth · typically off by · largest jump',
      ...replayed.flatMap(({ name, now, before }) => [line(name, now), line(`  ${OLDER}`, before)]),
      ...costs(older.forecastOf),
      ...(picture === undefined ? [] : [`drawn: ${picture}`]),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function line(name: string, looks: readonly Look[]): string {
  const { near, covered, typical, jump }: Quality = qualityOf(looks);
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`.padStart(6);
  const factor = (value: number) => `× ${value.toFixed(2)}`.padStart(8);
  return `${name.padEnd(16)} ${percent(near)} ${percent(covered)} ${factor(typical)} ${factor(jump)}`;
}

const setting: ForecastSetting = { cpuSlots: 100, gpus: 0, needs: () => [], now: 1e9 };
const ROUNDS = 50;

/** CPU time of one forecast, the median of several, once the program is warm. */
function costs(older: (runs: ForecastRun[], setting: ForecastSetting) => (asked: ForecastRun[]) => unknown): string[] {
  return [1000, 10_000].map((count) => {
    const runs = manyRuns(count);
    const [now, before] = [forecastOf, older].map((forecast) => {
      for (let round = 0; round < ROUNDS; round++) forecast(runs, setting)(runs);
      const times = Array.from({ length: ROUNDS }, () => {
        const start = process.cpuUsage().user;
        forecast(runs, setting)(runs);
        return (process.cpuUsage().user - start) / 1000;
      });
      return median(times).toFixed(1);
    });
    return `${count} runs, half of them done: ${now} ms of CPU, ${OLDER} ${before} ms`;
  });
}

function manyRuns(count: number): ForecastRun[] {
  return Array.from({ length: count }, (_, n) => {
    const parameters = { lr: 0.001 * ((n % 10) + 1), model: `m${n % 5}`, seed: n };
    const run = { id: `sweep/run-lr${parameters.lr}-s${n}`, sweep: 'sweep', group: `g${n % 4}`, parameters };
    const waiting = {
      ...run,
      attempt: 0,
      priority: 0,
      startedAt: null,
      endedAt: null,
      progress: null,
      etaSeconds: null,
    };
    const startedAt = setting.now - 100 * (count / 2 - n) - 10_000;
    if (n < count / 2)
      return { ...waiting, state: 'done', attempt: 1, startedAt, endedAt: startedAt + 8000 + (n % 7) * 300 };
    if (n >= count / 2 + 100) return { ...waiting, state: 'queued' };
    const left = { etaSeconds: 6, etaRange: [5, 8] as const };
    return { ...waiting, ...left, state: 'running', attempt: 1, startedAt: setting.now - 4000, progress: 0.4 };
  });
}
