import { type ComponentProps, useEffect, useState } from "react";
import { Button } from "../ui/button";
import { Field } from "./field";

/** A password with a button that shows and hides it; the button appears once script runs, since it needs it. */
export function PasswordField(props: Omit<ComponentProps<typeof Field>, "type" | "children">) {
  const [shown, setShown] = useState(false);
  const [ready, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <Field {...props} clearOnError type={shown ? "text" : "password"} autoCapitalize="none" spellCheck={false}>
      {ready && (
        <Button type="button" aria-pressed={shown} aria-controls={props.field.id} onClick={() => setShown(!shown)}>
          {shown ? "Hide" : "Show"}
          <span className="sr-only"> password</span>
        </Button>
      )}
    </Field>
  );
}

/**
 * Whose password a form is about, for password managers: they keep the new one with the address. It is not sent. It comes with
 * script, as text browsers show what is hidden.
 */
export function HiddenUsername({ email }: { email: string }) {
  const [ready, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return ready && <input type="email" autoComplete="username" defaultValue={email} hidden readOnly />;
}
