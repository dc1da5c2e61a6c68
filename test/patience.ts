/**
 * How long a test waits for a condition before it fails, ms. It is no bound of what is tested: it ends tests that hang, on a machine
 * that has much else to do, too.
 */
export const PATIENCE_MS = 60_000;
