import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Names, at the end and aloud, each test that passed only at its second try: it or what it tests depends on luck. */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lucky = modules.flatMap((module) => [...module.children.allTests('passed')].filter(isLucky));
    for (const { module, fullName } of lucky)
      console.warn(`PASSED AT THE SECOND TRY: ${module.relativeModuleId} > ${fullName}`);
  }
}

function isLucky(test: TestCase): boolean {
  return (test.diagnostic()?.retryCount ?? 0) > 0;
}
