import { setTimeout } from "node:timers/promises";
import { TOTP } from "totp-generator";

const stepMs = 30_000;

/**
 * An authenticator app for tests, without the backend's library for codes. The backend accepts each code once, so each
 * call returns the code of a later time step. If this step is more than one step in the future, the app waits.
 */
export class Authenticator {
  #secret: string;
  #step = 0;
  #wrong = 0;

  constructor(secret: string) {
    this.#secret = secret;
  }

  static fromUri(uri: string | null): Authenticator {
    return new Authenticator(new URL(uri ?? "").searchParams.get("secret") ?? "");
  }

  /** Returns an unused code that the backend accepts now. */
  async freshCode(): Promise<string> {
    // Uses the previous step's code, which the backend still accepts, or the current code in the last 10 s of a step.
    this.#step = Math.max(this.#step + 1, Math.floor((Date.now() + 10_000) / stepMs) - 1);
    const wait = (this.#step - 1) * stepMs - Date.now();
    if (wait > 0) await setTimeout(wait);
    return this.lastCode();
  }

  /** Returns the last code that `freshCode` has returned. */
  lastCode(): Promise<string> {
    return this.#codeAt(this.#step * stepMs);
  }

  /** Returns a code from five minutes ago. */
  expiredCode(): Promise<string> {
    return this.#codeAt(Date.now() - 10 * stepMs);
  }

  /** Returns an invalid code of six digits, and a different code at each call. */
  async wrongCode(): Promise<string> {
    const near = await Promise.all([-2, -1, 0, 1, 2].map((steps) => this.#codeAt(Date.now() + steps * stepMs)));
    let code: string;
    do code = String(this.#wrong++).padStart(6, "0");
    while (near.includes(code));
    return code;
  }

  async #codeAt(timestamp: number): Promise<string> {
    return (await TOTP.generate(this.#secret, { timestamp, explicitZeroPad: true })).otp;
  }
}
