import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds the client as modules into `dist` and as CommonJS into `dist/cjs`, with types that every resolution finds. Only
 * its command needs Node.js.
 */
const dist = join(import.meta.dirname, 'dist');
rmSync(dist, { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.commonjs.json', 'tsconfig.command.json'])
  execFileSync('tsc', ['-p', project], { cwd: import.meta.dirname, stdio: 'inherit' });
writeFileSync(join(dist, 'cjs/package.json'), '{ "type": "commonjs" }\n');
// The compiler keeps the ending `.ts` in the imports of declarations, which older compilers refuse.
for (const file of globSync('**/*.d.ts', { cwd: dist })) {
  const path = join(dist, file);
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/from '(\.[^']*)\.ts'/g, "from '$1.js'"));
}
