#!/usr/bin/env node
// JavaScript that an old Node can read, too: it is here to tell one that it is too old for the rest.
const majorMin = 24;

if (Number.parseInt(process.versions.node, 10) >= majorMin) {
  // What is compiled is kept for the next start, which takes a third less for it. Where it cannot be written, it is not.
  process
    .getBuiltinModule('node:module')
    .enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/compiled`);
  import('../src/main.ts');
} else {
  process.stderr.write(`error: this needs Node ${majorMin} or newer, and runs on ${process.version}\n`);
  process.exitCode = 1;
}
