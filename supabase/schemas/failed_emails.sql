create table public.failed_emails (
  id uuid primary key default gen_random_uuid(),
  failed_at timestamptz not null default now(),
  kind text not null check (
    kind in (
      'team invite', 'client ID', 'new password', 'password change', 'second factor', 'shipment update', 'email change', 'erasure'
    )
  ),
  sent_to text not null check (char_length(sent_to) between 3 and 254),
  account_id uuid references auth.users (id) on delete cascade,
  client_id text references public.client_ids (client_id) on delete cascade,
  resolved_at timestamptz
);
alter table public.failed_emails enable row level security;
grant select on table public.failed_emails to authenticated, service_role;

create index failed_emails_unresolved on public.failed_emails (failed_at) where resolved_at is null;

-- The site claims an email before sending it, so that a form that is submitted twice sends one email.
-- A claim expires after two minutes, because the server may have stopped before it sent the email.
create table private.email_claims (key uuid primary key, claimed_at timestamptz not null default now());
alter table private.email_claims enable row level security;

create function public.record_failed_email(kind text, sent_to text, account_id uuid default null, client_id text default null)
returns void
language sql volatile security definer set search_path = '' as $$
  insert into public.failed_emails (kind, sent_to, account_id, client_id)
  values (record_failed_email.kind, record_failed_email.sent_to, record_failed_email.account_id, record_failed_email.client_id)
$$;

-- Removes a failed email from the desk's list and returns the recipient's address.
create function public.dismiss_failed_email(email_id uuid, actor_name text default null) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  recipient text;
  resolved public.failed_emails;
begin
  select sent_to into recipient from public.failed_emails where id = dismiss_failed_email.email_id;
  perform private.reject_if(not found, 404, 'Email not found.');
  update public.failed_emails set resolved_at = now()
  where id = dismiss_failed_email.email_id and resolved_at is null returning * into resolved;
  if found then
    perform private.insert_audit_entry(
      actor, 'failed-email dismiss', account_id => resolved.account_id,
      before => jsonb_build_object('kind', resolved.kind)
    );
  end if;
  return recipient;
end
$$;

-- Claims an email of a form. `email` identifies the email among the emails of all forms with this idempotency key.
-- Returns true if the caller must send the email, and false if the email is already claimed.
create function public.claim_email(idempotency_key uuid, email jsonb) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  is_mine boolean;
begin
  delete from private.email_claims where claimed_at < now() - interval '1 day';
  insert into private.email_claims as claim (key)
  values (private.derive_idempotency_key(idempotency_key, jsonb_build_array('email', email)))
  on conflict (key) do update set claimed_at = now() where claim.claimed_at < now() - interval '2 minutes'
  returning true into is_mine;
  return coalesce(is_mine, false);
end
$$;

-- Deletes the claim of an email that could not be sent, so that the user can try again.
create function public.release_email(idempotency_key uuid, email jsonb) returns void
language sql volatile security definer set search_path = '' as $$
  delete from private.email_claims
  where key = private.derive_idempotency_key(idempotency_key, jsonb_build_array('email', email))
$$;

create policy "staff read failed emails" on public.failed_emails
for select to authenticated using ((select private.is_staff()));

grant execute on function public.dismiss_failed_email to authenticated, service_role;
grant execute on function public.record_failed_email, public.claim_email, public.release_email to service_role;
