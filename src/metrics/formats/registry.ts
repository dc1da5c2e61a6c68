import type { MetricFormat } from './format.js';
import { jsonLines } from './json-lines.js';

/** All formats that are read. Where two say something of the same metric, the one that stands first counts. */
export const metricFormats: readonly MetricFormat[] = [jsonLines];
