import { setTimeout } from "node:timers/promises";
import { TOTP } from "totp-generator";

const stepMs = 30_000;

/**
 * An authenticator app for the tests, by another library than the backend's. Each code is of a later time step than the
 * one before, as a code is accepted once; when the next step is more than one ahead of the clock it waits for the clock,
 * as a person does.
 */
export class Authenticator {
  #secret: string;
  #step = 0;
  #wrong = 0;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** The authenticator for the `otpauth:` address of a setup page. */
  static fromUri(uri: string | null): Authenticator {
    return new Authenticator(new URL(uri ?? "").searchParams.get("secret") ?? "");
  }

  /** A code that has not been given before and is accepted now. */
  async freshCode(): Promise<string> {
    // The code of the previous step is still accepted; within 10 s of the next step, the current one is used.
    this.#step = Math.max(this.#step + 1, Math.floor((Date.now() + 10_000) / stepMs) - 1);
    const wait = (this.#step - 1) * stepMs - Date.now();
    if (wait > 0) await setTimeout(wait);
    return this.lastCode();
  }

  /** The code that was given last. */
  lastCode(): Promise<string> {
    return this.#codeAt(this.#step * stepMs);
  }

  /** Returns a code from five minutes ago. */
  expiredCode(): Promise<string> {
    return this.#codeAt(Date.now() - 10 * stepMs);
  }

  /** Returns six digits that were not returned before and that no server accepts now. */
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
