#!/usr/bin/env node
// This file must also run on old versions of Node.js, so that they print a readable error instead of a syntax error.
const majorMin = 24;

if (Number.parseInt(process.versions.node, 10) >= majorMin) {
  // The compile cache makes the next start a third faster. Node.js skips it if the folder is read-only.
  process
    .getBuiltinModule('node:module')
    .enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/compiled`);
  import('../src/main.ts');
} else {
  process.stderr.write(
    `error: animal-store needs Node.js ${majorMin} or newer; this is ${process.version}\n`,
  );
  process.exitCode = 1;
}
