import { compareSchema } from '../storage/migrations/migrate.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/**
 * Checks that the schema of a store fits this program. `migrations` are the names of the migrations that ran in the
 * store, oldest first.
 */
export function checkSchema(migrations: readonly string[]): Finding {
  const last = migrations.at(-1) ?? '';
  switch (compareSchema(migrations)) {
    case 'newest':
      return ok('schema', `the newest, "${last}"`);
    case 'none':
      return ok('schema', 'there are no tables yet; the first start creates them');
    case 'older':
      return warning(
        'schema',
        `older than this program: "${last}"`,
        'make a backup; the next start, or "animal-store migrate", updates the schema',
      );
    case 'newer':
      return problem(
        'schema',
        `newer than this program: it has "${last}"`,
        'run the release that created it, or a later one; or restore a backup',
      );
  }
}
