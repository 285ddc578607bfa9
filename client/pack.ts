import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds the client and writes its tarball into `package/`. The service serves the tarball from there
 * (docs/decisions/client.md).
 */
const folder = join(import.meta.dirname, 'package');
mkdirSync(folder, { recursive: true });
execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: import.meta.dirname, stdio: 'inherit' });
