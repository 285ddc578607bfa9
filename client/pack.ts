import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds the client and stores its tarball in `package/`, where the service finds it. docs/decisions/client.md explains
 * why.
 */
const folder = join(import.meta.dirname, 'package');
mkdirSync(folder, { recursive: true });
execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: import.meta.dirname, stdio: 'inherit' });
