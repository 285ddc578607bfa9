import { toLines } from './header-lines.ts';

/**
 * Returns header lines that stop browsers from guessing the content type and from showing the response in a frame
 * (OWASP REST Security Cheat Sheet, "Security Headers"). `policy` is the Content-Security-Policy.
 */
export function securityLines(policy = "frame-ancestors 'none'"): string {
  return toLines({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': policy,
  });
}
