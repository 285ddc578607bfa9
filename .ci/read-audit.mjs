// Judges what `npm audit --json` printed: see .ci/audit.
import { text } from 'node:stream/consumers';

/** What npm says where a request has had no answer; the code stands behind it. */
const unanswered = /^(?:request to \S+ failed, reason: .*?|network timeout at .*?)(\bE[A-Z_]+\b|$)/;

const printed = await text(process.stdin);
const report = parse(printed);
const { message = '', statusCode, error, metadata } = report;
const [failed, code] = unanswered.exec(message) ?? [];
const tell = (line) => process.stderr.write(`${line}\n`);

if (metadata?.vulnerabilities !== undefined) judge(metadata.vulnerabilities.total);
else if (statusCode >= 400) tellSkipped(statusCode);
else if (failed !== undefined) tellSkipped(code || 'timed out');
else {
  tell(`the packages could not be checked: ${message || error?.summary || printed || 'npm said nothing'}`);
  process.exitCode = 1;
}

function judge(total) {
  if (total === 0) process.stdout.write('no known weakness\n');
  else {
    for (const { name, severity, range } of Object.values(report.vulnerabilities))
      tell(`${name} ${range}: ${severity}`);
    process.exitCode = 1;
  }
}

/** Without its address: what CI prints may be read by anyone. */
function tellSkipped(reason) {
  tell(
    `\nSKIPPED: the registry does not answer (${reason}); whether the packages have known weaknesses was NOT checked\n`,
  );
}

function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}
