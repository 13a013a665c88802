import { type ComponentProps, useState } from "react";
import { Button } from "../ui/button";
import { useIsHydrated } from "../ui/hydration";
import { Field } from "./field";

export function PasswordField(props: Omit<ComponentProps<typeof Field>, "type" | "children">) {
  const [shown, setShown] = useState(false);
  const isHydrated = useIsHydrated();
  return (
    <Field {...props} clearOnError type={shown ? "text" : "password"} autoCapitalize="none" spellCheck={false}>
      {isHydrated && (
        <Button type="button" aria-pressed={shown} aria-controls={props.field.id} onClick={() => setShown(!shown)}>
          {shown ? "Hide" : "Show"}
          <span className="sr-only"> password</span>
        </Button>
      )}
    </Field>
  );
}

/**
 * Password managers save a new password with the email address in the hidden input. The server's HTML omits the input,
 * because text browsers show hidden inputs.
 */
export function HiddenUsername({ email }: { email: string }) {
  const isHydrated = useIsHydrated();
  return isHydrated && <input type="email" autoComplete="username" defaultValue={email} hidden readOnly />;
}
