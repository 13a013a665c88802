-- What the tables of the portal share: where helper functions live, and how sure we are of who asks.

create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;

-- Functions that the policies and triggers use, out of the API's reach.
create schema if not exists private;
revoke all on schema private from public;
grant usage on schema private to authenticated, service_role, supabase_auth_admin;

-- Whether the caller's session is good for their account: it has not been ended (an access token outlives a sign-out by
-- up to an hour), and it gave the code of the second factor (AAL2) or the account has no verified one. Clients cannot
-- read the auth schema, so this runs as its owner; it tells callers nothing but this about themselves, and the
-- restrictive policies of every table and of the bucket call it.
create function private.assurance_suffices() returns boolean
language sql stable security definer
set search_path = ''
as $$
  select exists (
      select 1 from auth.sessions
      where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = (select auth.uid())
    )
    and (
      (select auth.jwt()) ->> 'aal' = 'aal2'
      or not exists (
        select 1 from auth.mfa_factors where user_id = (select auth.uid()) and status = 'verified'
      )
    )
$$;
revoke all on function private.assurance_suffices() from public, anon;
grant execute on function private.assurance_suffices() to authenticated;

-- The account of an e-mail address, or null. For staff only.
create function public.find_account(email text) returns uuid
language sql stable security definer
set search_path = ''
as $$
  select id from auth.users where users.email = lower(find_account.email)
$$;
revoke all on function public.find_account(text) from public, anon, authenticated;
grant execute on function public.find_account(text) to service_role;
