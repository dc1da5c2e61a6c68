import { seededRandom } from '../../../../src/analysis/parameters/seeded-random.js';
import { toAscii } from '../../../../src/text/ascii.js';
import type { Column } from '../../../../src/tui/screens/parameters/axis.js';
import { type Line, lineWidth, plainText } from '../../../../src/tui/surface/span.js';

/** As a person would see it, between line breaks. */
export function seen(lines: readonly Line[]): string {
  return `\n${lines.map((line) => plainText(line).trimEnd()).join('\n')}\n`;
}

/** The lines that are too wide, or not printable where only ASCII can be shown. */
export function faults(lines: readonly Line[], width: number): Line[] {
  return lines.filter((line) => lineWidth(line) > width || /\?|[^ -~]/.test(toAscii(plainText(line))));
}

/** A sweep of a learning rate over decades, an optimizer that matters, a batch size and a dropout that is not always set. */
export function aSweep(count: number, seed = 3): Record<'lr' | 'optimizer' | 'batch' | 'dropout' | 'loss', Column> {
  const random = seededRandom(seed);
  const each = <T>(value: () => T) => Array.from({ length: count }, value);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!;
  const lr = each(() => 10 ** (-5 + 4 * random()));
  const optimizer = each(() => pick(['adam', 'sgd', 'lion']));
  const loss = lr.map((rate, run) => {
    const lost = random() < 0.05;
    return lost ? NaN : 0.05 + (Math.log10(rate) + 3) ** 2 / 10 + (optimizer[run] === 'sgd' ? 0.3 : 0) + random() / 10;
  });
  return {
    lr: { name: 'lr', values: lr },
    optimizer: { name: 'optimizer', values: optimizer },
    batch: { name: 'batch_size', values: each(() => pick([32, 64, 128, 256])) },
    dropout: { name: 'dropout', values: each(() => (random() < 0.2 ? undefined : random() / 2)) },
    loss: { name: 'eval/loss', values: loss },
  };
}

/** The run of the lowest value. */
export function lowest({ values }: Column): number {
  return values.reduce<number>((best, value, run) => (Number(value) < Number(values[best]) ? run : best), 0);
}
