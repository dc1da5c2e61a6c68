/** Works on at most `atOnce` items at a time; returns the results in the order of the items. */
export async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>, atOnce: number): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
