/** A file with rules, and the tests that must detect changes to the rules. */
export interface Target {
  readonly name: string;
  readonly file: string;
  /** Every test runs for every mutant, so the list has only the fastest tests that can detect changes. */
  readonly tests: readonly string[];
  /** The minimum percentage of mutants that the tests must kill. Null requires none and only reports the survivors. */
  readonly killedMin: number | null;
}

export const targets: readonly Target[] = [
  rule('windows', 'src/limits/rules/windows.ts', 'test/contracts/counters-memory.test.ts'),
  rule(
    'bans',
    'src/limits/rules/bans.ts',
    'test/limits/rules/bans.test.ts',
    'test/contracts/counters-memory.test.ts',
  ),
  rule('decision', 'src/limits/rules/decision.ts', 'test/limits/rules/decision.test.ts'),
  rule('address', 'src/limits/rules/address.ts', 'test/limits/rules/address.test.ts'),
  rule('cursor', 'src/http/request/cursor.ts', 'test/http/request/cursor.test.ts'),
  rule(
    'answer-once',
    'src/idempotency/answer-once.ts',
    'test/http/request/idempotency.test.ts',
    'test/contracts/catalogue-idempotency.test.ts',
    'test/contracts/orders.test.ts',
    'test/orders/waiting-postgres.test.ts',
  ),
  reported(
    'close-order',
    'src/orders/close-order.ts',
    'test/orders/close-order.test.ts',
    'test/contracts/orders.test.ts',
  ),
  reported(
    'conditions',
    'src/http/request/conditions.ts',
    'test/http/response/conditional.test.ts',
    'test/http/api/pets/update-pet.test.ts',
  ),
  reported('webhook-retry', 'src/webhooks/rules/retry.ts', 'test/webhooks/rules/retry.test.ts'),
  reported(
    'target-address',
    'src/webhooks/rules/target-address.ts',
    'test/webhooks/rules/target-address.test.ts',
  ),
  reported('target-url', 'src/webhooks/rules/target-url.ts', 'test/webhooks/rules/target-url.test.ts'),
  reported('plan', 'src/plans/plan.ts', 'test/plans/plan.test.ts'),
  reported('int64', 'src/int64.ts', 'test/int64.test.ts'),
  reported('exact-json', 'src/exact-json.ts', 'test/exact-json.test.ts'),
  reported('pet', 'src/pets/pet.ts', 'test/pets/pet.test.ts', 'test/http/api/pets/create-pet.test.ts'),
];

function rule(name: string, file: string, ...tests: string[]): Target {
  return { name, file, tests, killedMin: 90 };
}

function reported(name: string, file: string, ...tests: string[]): Target {
  return { name, file, tests, killedMin: null };
}
