import type { MetricLog } from '../metrics/metric-log.js';

/** Lets others work between two parts of a long reading. */
export type Pause = () => Promise<void>;

/** Some 2 ms of work. */
const PART_BYTES = 1 << 18;

/** Reads a metrics file to its present end. Without `pause` at once, whatever it takes. */
export async function readToEnd(log: MetricLog, pause?: Pause): Promise<void> {
  do {
    log.refresh(pause === undefined ? undefined : PART_BYTES);
    await pause?.();
  } while (log.more);
}
